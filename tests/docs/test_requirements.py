"""The elements on the page of the requirement language, compared with the vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from domain.requirements import operands
from domain.requirements.operators import EQUALITY, EVERY, EVERY_OF_A_KEY, MATCHING, MATCHING_NAMES
from domain.requirements.vocabulary import DISK, DISTRO_TREE, SYSTEM, Vocabulary
from tests.docs.page import TOP

PAGE = (TOP / "docs" / "requirements.md").read_text("utf-8")
OPERATORS = {
    "all": EVERY,
    "all and other": EVERY_OF_A_KEY,
    "match": MATCHING,
    "match and other": MATCHING_NAMES,
    "equality": EQUALITY,
    "yes": ("==",),
    "none": (),
}
SECTIONS = {"Systems": SYSTEM, "Disks": DISK, "Distro trees": DISTRO_TREE}


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(title: str) -> Iterator[tuple[list[str], str, str]]:
    """Yield spellings, operators and remarks of each row."""
    for line in section(title).splitlines():
        if line.startswith("| `"):
            spellings, _, operators, remarks = (cell.strip() for cell in line.strip("|").split(" | ", 3))
            yield re.findall(r"`([^`]+)`", spellings), operators, remarks


@pytest.mark.parametrize(("title", "language"), SECTIONS.items(), ids=SECTIONS)
def test_page__each_table__is_the_vocabulary(title: str, language: Vocabulary) -> None:
    listed = {name: OPERATORS[operators] for spellings, operators, _ in rows(title) for name in spellings}
    assert listed == {name: element.operators for name, element in language.elements.items()}


def test_page__spellings_of_one_row__are_of_one_element() -> None:
    for title in ("Systems", "Disks"):
        for spellings, _, _ in rows(title):
            assert SECTIONS[title].elements[spellings[0]].spellings == tuple(spellings)


def test_page__attributes_and_units__are_all_there() -> None:
    remarks = {name: text for title in SECTIONS for spellings, _, text in rows(title) for name in spellings}
    for name in ("device", "key_value", "system/compatible_with_distro"):
        assert all(f"`{attribute}`" in remarks[name] for attribute in SYSTEM.elements[name].attributes)
    assert all(f"`{unit}`" in section("Disks") for unit in operands.UNITS)
