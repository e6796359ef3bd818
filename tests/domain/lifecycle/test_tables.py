"""Every pair of states of every machine: transitions of the table are accepted, all others refused."""

from __future__ import annotations

from itertools import product

import pytest

from domain.errors import Refused
from domain.lab_commands.lifecycle import COMMAND
from domain.lifecycle import Lifecycle
from domain.recipe.lifecycle import FINISHED, PLACED, RECIPE, STARTED, TASK, UNPLACED
from domain.system.lifecycle import CONDITIONS, USAGE
from tests.domain.lifecycle import expected

TABLES = {
    RECIPE: expected.pairs(expected.RECIPE),
    USAGE: expected.pairs(expected.USAGE),
    TASK: expected.pairs(expected.TASK),
    COMMAND: expected.pairs(expected.COMMAND),
}

# Every pair of states, and whether the documentation allows it.
PAIRS = [
    pytest.param(lifecycle, before, after, (before, after) in moves, id=f"{lifecycle.name}-{before}-{after}")
    for lifecycle, moves in TABLES.items()
    for before, after in product(lifecycle.states, repeat=2)
]


@pytest.mark.parametrize(("lifecycle", "before", "after", "allowed"), PAIRS)
def test_require__any_pair_of_states__follows_the_documented_table(
    lifecycle: Lifecycle, before: str, after: str, allowed: bool
) -> None:
    if allowed:
        lifecycle.require("recipe/12", before, after)
        return
    with pytest.raises(Refused) as refused:
        lifecycle.require("recipe/12", before, after)
    assert str(refused.value) == f"recipe 12 is {before} and cannot become {after}"


@pytest.mark.parametrize("lifecycle", TABLES, ids=lambda lifecycle: lifecycle.name)
def test_table__rows__have_declared_states_and_no_duplicates(lifecycle: Lifecycle) -> None:
    moves = [(before, after) for before, after, _ in lifecycle.rows]
    assert {state for pair in moves for state in pair} <= set(lifecycle.states)
    assert len(set(moves)) == len(moves)
    assert all(when for _, _, when in lifecycle.rows), "every row says when"


@pytest.mark.parametrize("lifecycle", TABLES, ids=lambda lifecycle: lifecycle.name)
def test_table__from_its_start__reaches_every_state(lifecycle: Lifecycle) -> None:
    reached = set(lifecycle.start)
    while more := {after for before, after in lifecycle.moves if before in reached} - reached:
        reached |= more
    assert reached == set(lifecycle.states)


FINAL = [
    (RECIPE, {"completed", "cancelled", "aborted"}),
    # Every usage of a system has a transition.
    (USAGE, set()),
    (TASK, {"completed", "cancelled", "aborted"}),
    (COMMAND, {"completed", "failed"}),
]


@pytest.mark.parametrize(("lifecycle", "final"), FINAL, ids=lambda value: getattr(value, "name", ""))
def test_final__each_machine__states_without_transition(lifecycle: Lifecycle, final: set[str]) -> None:
    assert lifecycle.final == final


def test_recipe_states__in_their_documented_order__fall_into_the_documented_groups() -> None:
    documented = (
        "new queued assigned scheduled waiting installing running reserved completed cancelled aborted"
    )
    assert list(RECIPE.states) == documented.split()
    assert RECIPE.states == UNPLACED + PLACED + FINISHED
    # Placed recipes have a system; started ones are waiting or later.
    assert ("scheduled", *STARTED) == PLACED


def test_system__as_documented__has_these_usages_and_conditions() -> None:
    assert USAGE.states == ("idle", "pending", "scheduled", "waiting", "installing", "running")
    assert CONDITIONS == ("Automated", "Manual", "Broken", "Removed")
