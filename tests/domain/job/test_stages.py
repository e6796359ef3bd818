"""Stages of jobs: the table, and the moves between stages."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from domain.job.stages import OVER, STAGES, RecipeStates, moves, stage_of
from domain.recipe.lifecycle import PLACED, RECIPE, UNFINISHED, UNPLACED


def stage(*states: str, preempted: bool = False, had_system: bool = True, is_open: bool = False) -> str:
    return stage_of(RecipeStates(frozenset(states), preempted, had_system, is_open))


TABLE = [
    (("new", "new"), "new"),
    (("new", "queued"), "accepted"),
    (("new", "scheduled"), "running"),
    (("aborted", "queued"), "failing"),
    (("aborted", "running"), "failing"),
    (("queued", "queued"), "accepted"),
    (("assigned", "scheduled"), "running"),
    (("reserved",), "running"),
    (("completed", "new"), "running"),
    (("completed", "queued"), "running"),
    (("cancelled", "queued"), "accepted"),
    (("cancelled", "aborted", "completed"), "failed"),
    (("cancelled", "completed"), "cancelled"),
    (("completed", "completed"), "completed"),
]


@pytest.mark.parametrize(("states", "expected"), TABLE, ids=str)
def test_stage__closed_job__first_row_that_holds(states: tuple[str, ...], expected: str) -> None:
    assert stage(*states) == expected


def test_stage__no_recipe_ever_had_a_system__rejected() -> None:
    assert stage("aborted", "cancelled", had_system=False) == "rejected"
    assert stage("aborted", "queued", had_system=False) == "failing"


def test_stage__a_recipe_waits_after_preemption__resuming_until_one_is_placed() -> None:
    assert stage("queued", "completed", preempted=True) == "resuming"
    assert stage("queued", "running", preempted=True) == "running"
    assert stage("queued", "aborted", preempted=True) == "failing"


def test_stage__open_job__is_never_over() -> None:
    assert stage(is_open=True) == "new"
    assert stage("completed", is_open=True) == stage("cancelled", is_open=True) == "completing"
    assert stage("aborted", is_open=True) == "failing"
    assert stage("completed", "queued", is_open=True) == "running"
    assert stage(had_system=False) == "completed"


def test_stage__any_recipes__a_row_holds() -> None:
    dice = Random(1)
    names = {row.name for row in STAGES}
    found = Counter[str]()
    for _ in range(20_000):
        states = [dice.choice(RECIPE.states) for _ in range(dice.randint(0, 4))]
        waits = dice.random() < 0.5 and not {*states}.isdisjoint(UNPLACED)
        has_system = dice.random() < 0.5 or not {*states}.isdisjoint(PLACED)
        one = stage(*states, preempted=waits, had_system=has_system, is_open=dice.random() < 0.5)
        found[one] += 1
        assert (one in OVER) <= {*states}.isdisjoint(UNFINISHED)
    assert found.keys() == names


def test_moves__random_lives_of_larger_jobs__are_all_in_the_table() -> None:
    dice, allowed, seen = Random(2), moves(), set[tuple[str, str]]()
    for _ in range(3_000):
        recipes: list[tuple[str, bool, bool]] = [("new", False, False)] * dice.randint(0, 6)
        is_open = not recipes or dice.random() < 0.5
        before = _stage(recipes, is_open)
        while is_open or any(state in UNFINISHED for state, _, _ in recipes):
            recipes, is_open = _after(dice, recipes, is_open)
            after = _stage(recipes, is_open)
            if before != after:
                assert (before, after) in allowed
                seen.add((before, after))
            before = after
        assert before in OVER
    assert len(seen) > len(allowed) * 0.8


def _stage(recipes: list[tuple[str, bool, bool]], is_open: bool) -> str:
    present = frozenset(state for state, _, _ in recipes)
    waits, had = any(waits for _, waits, _ in recipes), any(had for _, _, had in recipes)
    return stage_of(RecipeStates(present, waits, had, is_open))


def _after(
    dice: Random, recipes: list[tuple[str, bool, bool]], is_open: bool
) -> tuple[list[tuple[str, bool, bool]], bool]:
    unfinished = [place for place, (state, _, _) in enumerate(recipes) if state in UNFINISHED]
    if is_open and (not unfinished or dice.random() < 0.1):
        return (recipes, False) if dice.random() < 0.5 else ([*recipes, ("new", False, False)], True)
    place = dice.choice(unfinished)
    state, waits, had = recipes[place]
    after = dice.choice([to for before, to, _ in RECIPE.rows if before == state])
    waits = after in UNPLACED and (waits or (state in PLACED and dice.random() < 0.5))
    return [*recipes[:place], (after, waits, had or after in PLACED), *recipes[place + 1 :]], is_open
