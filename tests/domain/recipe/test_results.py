"""Results of a recipe: detection of repeated reports, and its cost."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.recipe.events import TaskResult
from domain.recipe.results import NO_RESULTS, Results
from domain.recipe.state import evolve
from tests.domain.recipe.samples import moment, recipe_in

LOG = {"name": "console.log", "url": "http://lab/console.log", "size_bytes": 12, "sha256": "ab" * 32}
PLAIN = TaskResult(1, "Pass", "fine", 1.0, ["http://lab/1"], "/memory", [LOG])

OTHERS = [
    {"task_id": 2},
    {"result": "Warn"},
    {"message": ""},
    {"score": None},
    {"score": 0.0},
    {"path": ""},
    {"path": "/memory/2"},
    {"log_urls": []},
    {"logs": []},
    *({"logs": [{**LOG, name: None}]} for name in ("size_bytes", "sha256")),
    *({"logs": [{**LOG, name: "x"}]} for name in ("name", "url")),
]


@pytest.mark.parametrize("fields", OTHERS, ids=str)
def test_has__another_task_path_or_content__is_no_repetition(fields: dict[str, object]) -> None:
    assert not NO_RESULTS.after(PLAIN).has(replace(PLAIN, **fields))  # type: ignore[arg-type]


def test_has__equal_result_as_the_log_stores_it__is_a_repetition() -> None:
    stored = replace(PLAIN, score=1, log_urls=("http://lab/1",), logs=(dict(sorted(LOG.items())),))
    assert NO_RESULTS.after(PLAIN).has(stored)


MANY = [TaskResult(1, *fields, None, [], "") for fields in product(("Pass", "Fail"), "abcdefgh")]


@given(st.lists(st.sampled_from(MANY)))
def test_results__any_reports__contain_exactly_those(reports: list[TaskResult]) -> None:
    results = NO_RESULTS
    for report in reports:
        results = results.after(report)
    assert [one for one in MANY if results.has(one)] == [one for one in MANY if one in reports]
    assert results.result_count == len(reports)
    assert set(results.kinds) == {report.result for report in reports}


def copied(before: Results, after: Results) -> int:
    """Return the number of digests in sets that the two states do not share."""
    return sum(len(level) for level in after.digests if all(level is not one for one in before.digests))


@pytest.mark.parametrize("count", [1_000, 8_000])
def test_results__thousands__few_copies_each_and_tasks_unchanged(count: int) -> None:
    recipe, work = recipe_in("running", *["running"] * 50), 0
    tasks = recipe.tasks
    for number in range(count):
        before = recipe.results
        recipe = evolve(recipe, 1, replace(PLAIN, message=str(number)), moment())
        work += copied(before, recipe.results)
    assert recipe.tasks is tasks, "no task is searched or copied for a result"
    assert work <= count * count.bit_length(), "each result is copied once for each doubling"
    assert len(recipe.results.digests) <= count.bit_length(), "a search looks into as many sets"
