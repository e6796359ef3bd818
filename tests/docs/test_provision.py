"""The fields of the provision command on its page, compared with the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from api.rest.contract.answers.labs import CommandGuest, CommandMember, CommandTask, LabCommand

PAGE = Path(__file__).resolve().parents[2] / "docs" / "provision.md"
TABLES: dict[str, type[BaseModel]] = {
    "The recipe": LabCommand,
    "A task": CommandTask,
    "A member of the set": CommandMember,
}


def section(title: str) -> str:
    return PAGE.read_text("utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("title", TABLES)
def test_table__of_a_part__has_its_fields_in_their_order(title: str) -> None:
    assert re.findall(r"^\| `(\w+)` \|", section(title), re.M) == list(TABLES[title].model_fields)


def test_guest__its_fields__are_all_named() -> None:
    assert set(re.findall(r"`(\w+)`", section("A guest recipe"))) == set(CommandGuest.model_fields)
