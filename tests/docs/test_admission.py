"""The examples and tables of docs/admission.md."""

from __future__ import annotations

import json
import re
from typing import Any

from domain.admission.configuration import Configuration, configuration_to_json
from domain.admission.job_filters import ACTIONS, stored_job_filter
from domain.admission.predicates import FIELDS
from tests.docs.page import TOP

PAGE = (TOP / "docs" / "admission.md").read_text("utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def example(title: str) -> Any:
    """Return the first JSON example of a section."""
    found = re.search(r"```json\n(.*?)```", section(title), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_configuration__in_the_page__has_the_defaults() -> None:
    assert example("Configuration") == configuration_to_json(Configuration())


def test_job_filter__in_the_page__is_valid_and_its_page_names_every_action_and_field() -> None:
    stored_job_filter("example", {**example("Job filters"), "watermark": 0})
    text = section("Job filters")
    assert [action for action in ACTIONS if action not in text] == []
    rows = "".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE))
    assert sorted(re.findall("`([a-z_]+)`", rows)) == sorted(FIELDS)
