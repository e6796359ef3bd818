"""Systems that fit a recipe, by requirement, distro and lab."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from replay.audit.record import from_recorded
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from tests.replay.audit.moves import LAB, Pair, new
from tests.replay.audit.story import Story

BIG = {"element": "memory", "op": ">", "value": 4095}
SMALL = {"element": "memory", "op": "<", "value": 4096}
UNKNOWN = {"element": "numa_node_count", "op": "==", "value": 2}
OWN = {"arch": "x86_64", "osmajor": "Fedora", "osminor": "40"}
ELSEWHERE, MISSING = 2, 3


def viable(
    wants: dict[str, Any] = BIG, excluded: Iterable[dict[str, Any]] = (), arch: str = "x86_64", **fields: Any
) -> bool:
    """Match one recipe and one system in a lab with one tree, Fedora 40 for x86_64."""
    story = Story()
    story.labs(LAB, "lab-2")
    story.tree(1, LAB)
    story.tree(ELSEWHERE, "lab-2")
    story.system("a", memory_mb=4096, arches=[arch], excluded_families=list(excluded))
    recipe: Pair = ("recipe/1", new(1, 1, wants, "Normal", **{"distro_tree_id": 1, **fields}))
    story.commit(recipe)
    view = SchedulerView()
    for record in from_recorded(story.log):
        view.apply(record)
    return SystemMatcher(view).fits(view.need(view.recipes[1]), view.systems["a"])


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({}, True),
        ({"wants": SMALL}, False),
        ({"wants": UNKNOWN}, False),
        ({"arch": "s390x"}, False),
        # Not in this lab; removed; none was found.
        ({"distro_tree_id": ELSEWHERE}, False),
        ({"distro_tree_id": MISSING}, False),
        ({"distro_tree_id": None}, False),
        # A distro of the job itself is in every lab.
        ({"distro_tree_id": None, "distro": OWN}, True),
        ({"distro_tree_id": None, "distro": {**OWN, "arch": "s390x"}}, False),
        # A forced system need not satisfy any requirement, but must be able to install the distro.
        ({"wants": {"force": "A"}}, True),
        ({"wants": {"force": "a"}, "arch": "s390x"}, False),
        ({"wants": {"force": "b"}}, False),
    ],
)
def test_fits__recipe_and_system__requirement_and_distro_count(fields: dict[str, Any], answer: bool) -> None:
    assert viable(**fields) is answer


@pytest.mark.parametrize("fields", [{}, {"distro_tree_id": None, "distro": OWN}], ids=str)
@pytest.mark.parametrize(("version", "answer"), [("40", False), ("41", True), (None, False)])
def test_fits__exclusion_of_one_version__is_of_that_version(
    fields: dict[str, Any], version: str | None, answer: bool
) -> None:
    row = {"arch": "x86_64", "family": "Fedora", "version": version}
    assert viable(excluded=[row], **fields) is answer
    assert viable(excluded=[{**row, "family": "Linux"}, {**row, "arch": "s390x"}], **fields) is True
