"""Every element of a recipe has the same result from XML and from JSON."""

from __future__ import annotations

from typing import Any

import pytest

from tests.intake.elements import DISTRO, ELEMENTS
from tests.intake.jobs import job_document, job_xml, read_json, read_xml

PLAIN = job_xml()


@pytest.mark.parametrize(("body", "fields", "kept"), ELEMENTS.values(), ids=ELEMENTS)
def test_element__as_xml_or_json__is_kept(body: bytes, fields: dict[str, Any], kept: dict[str, Any]) -> None:
    spec = read_xml(body)
    assert spec == read_json(job_document(recipe=fields))
    (recipe,) = spec.document["recipe_sets"][0]["recipes"]
    expected = {**fields, **kept}
    assert {field: recipe.get(field) for field in expected} == expected
    assert spec != read_xml(PLAIN) or expected == {"kickstart": None}


def test_reservesys__requested__is_in_the_spec() -> None:
    (recipe,) = read_xml(ELEMENTS["reservesys of defaults"][0]).recipe_sets[0].recipes
    assert recipe.reservesys == {"duration_seconds": 86_400, "when": "always"}


def test_distro__custom__is_in_the_spec() -> None:
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
def test_task__fetched__is_named_by_its_name_or_url(task: str, name: str) -> None:
    (recipe,) = read_xml(job_xml(task=task)).recipe_sets[0].recipes
    (task_of_recipe,) = recipe.tasks
    assert task_of_recipe.name == name
    assert task_of_recipe.fetch is not None and task_of_recipe.fetch["url"] == "http://f/"
    assert ("subdir" in task_of_recipe.fetch) == ("subdir" in task)
