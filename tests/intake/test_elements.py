"""Every element of a recipe: what it becomes, alike from XML and from JSON."""

from __future__ import annotations

from typing import Any

import pytest

from tests.intake.elements import DISTRO, ELEMENTS
from tests.intake.jobs import job_document, job_xml, read_json, read_xml

PLAIN = job_xml()


@pytest.mark.parametrize(("body", "fields", "kept"), ELEMENTS.values(), ids=ELEMENTS)
def test_element__from_either_door__is_kept(
    body: bytes, fields: dict[str, Any], kept: dict[str, Any]
) -> None:
    spec = read_xml(body)
    assert spec == read_json(job_document(recipe=fields))
    (recipe,) = spec.document["recipe_sets"][0]["recipes"]
    expected = {**fields, **kept}
    assert {field: recipe.get(field) for field in expected} == expected
    assert spec != read_xml(PLAIN) or expected == {"kickstart": None}


def test_reservesys__asked_for__is_what_scheduling_is_told() -> None:
    (recipe,) = read_xml(ELEMENTS["reservesys of defaults"][0]).recipe_sets[0].recipes
    assert recipe.reservesys == {"duration_seconds": 86_400, "when": "always"}


def test_distro__of_ones_own__is_what_scheduling_is_told() -> None:
    (recipe,) = read_xml(ELEMENTS["distro"][0]).recipe_sets[0].recipes
    assert recipe.distro == DISTRO
    assert recipe.distro_requires == '{"and":[]}'


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ('<task name="/t"><fetch url="http://f/" subdir="a"/></task>', "/t"),
        ('<task><fetch url="http://f/" subdir="a"/></task>', "http://f/ a"),
        ('<task><fetch url="http://f/"/></task>', "http://f/"),
    ],
)
def test_task__that_is_fetched__is_called_by_its_name_or_where_it_comes_from(task: str, name: str) -> None:
    (recipe,) = read_xml(job_xml(task=task)).recipe_sets[0].recipes
    (told,) = recipe.tasks
    assert told.name == name
    assert told.fetch is not None and told.fetch["url"] == "http://f/"
    assert ("subdir" in told.fetch) == ("subdir" in task)
