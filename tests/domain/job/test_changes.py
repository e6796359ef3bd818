"""Changes of submitted recipe sets: what may differ, and the events that follow."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from domain.contention.documents import locks_from_json
from domain.job.changes import (
    change_faults,
    chooses_trees,
    new_task_count,
    recipe_documents,
    set_change,
)
from domain.job.spec import RecipeSetSpec
from domain.recipe.events import RecipeNew
from tests.domain.job.specs import of, recipe
from tests.domain.recipe.samples import recipe_new

GUEST = {"host_requires": 1, "tasks": ["/g"], "guestname": "g"}
HOST = {"host_requires": 1, "tasks": ["/a"], "kernel_options": "", "guests": [GUEST]}
SET: dict[str, Any] = {"priority": "Normal", "recipes": [HOST, {"host_requires": 1, "tasks": ["/b"]}]}


def other(*path: str | int, value: Any) -> dict[str, Any]:
    """Return the document with another value at a path; None removes the field."""
    document = deepcopy(SET)
    part: Any = document
    for name in path[:-1]:
        part = part[name]
    if value is None:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return document


@pytest.mark.parametrize("field", ["host_requires", "distro_requires", "distro", "tasks", "locks"])
@pytest.mark.parametrize("recipe_path", [("recipes", 0), ("recipes", 0, "guests", 0), ("recipes", 1)])
def test_change_faults__requirements_tasks_and_locks__may_differ(
    recipe_path: tuple[str | int, ...], field: str
) -> None:
    assert change_faults(SET, other(*recipe_path, field, value=2)) == []


FAULTS: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("priority",), "High", "priority"),
    (("key",), "k", "key"),
    (("recipes", 0, "kernel_options"), "quiet", "recipes[0].kernel_options"),
    (("recipes", 0, "guests", 0, "guestname"), "h", "recipes[0].guests[0].guestname"),
    (("recipes", 0, "guests"), [], "recipes[0].guests"),
    (("recipes", 1), None, "recipes"),
]


@pytest.mark.parametrize(("path", "value", "where"), FAULTS)
def test_change_faults__anything_else__is_named(path: tuple[str | int, ...], value: Any, where: str) -> None:
    assert [fault.where for fault in change_faults(SET, other(*path, value=value))] == [where]


def test_new_task_count__tasks_of_a_guest_differ__are_those_of_the_guest() -> None:
    changed = other("recipes", 0, "guests", 0, "tasks", value=["/g", "/h"])
    assert (new_task_count(SET, changed), new_task_count(SET, SET)) == (2, 0)
    assert not chooses_trees(SET, changed)
    assert chooses_trees(SET, other("recipes", 1, "distro_requires", value=2))
    assert [each["tasks"] for each in recipe_documents(SET)] == [["/a"], ["/g"], ["/b"]]


def change(after: Mapping[str, Any], spec: RecipeSetSpec, trees: tuple[int, ...] = (1, 1, 1)) -> Any:
    present: dict[int, RecipeNew] = {
        number: recipe_new(number, host_requires="{}", tasks=[_task(number)]) for number in (1, 2, 3)
    }
    return set_change(SET, after, spec, present, trees, iter((70, 71)))


def _task(number: int, name: str = "/plain") -> dict[str, Any]:
    return {"task_id": number, "name": name, "role": None, "params": {}}


PLAIN = of(recipe(guests=(recipe(guestname="g"),)), recipe())


def test_set_change__no_difference__changes_no_recipe() -> None:
    assert change(SET, PLAIN).recipes == {}


def test_set_change__other_tasks__the_recipe_has_new_ones_and_the_set_their_names() -> None:
    after = other("recipes", 1, "tasks", value=["/c"])
    found = change(after, of(recipe(guests=(recipe(guestname="g"),)), recipe("/c")))
    assert found.recipes.keys() == {3}
    assert list(found.recipes[3].tasks) == [_task(70, "/c")]
    assert (found.of_set.tasks, found.of_set.document) == (("/plain", "/c"), after)


def test_set_change__locks_of_a_guest__are_those_of_its_host_too() -> None:
    locks = locks_from_json({"network": "AllShared"}, "locks")
    after = other("recipes", 0, "guests", 0, "locks", value={"network": "AllShared"})
    found = change(after, of(recipe(guests=(recipe(guestname="g", locks=locks),)), recipe()))
    shared = {"network": "AllShared"}
    assert {number: event.locks for number, event in found.recipes.items()} == {1: shared, 2: shared}
    assert found.of_set.profile == shared


def test_set_change__another_distro_tree__changes_the_recipe_and_keeps_its_tasks() -> None:
    found = change(other("recipes", 0, "distro_requires", value=2), PLAIN, (7, 1, 1))
    assert {number: event.distro_tree_id for number, event in found.recipes.items()} == {1: 7}
    assert list(found.recipes[1].tasks) == [_task(1)]
