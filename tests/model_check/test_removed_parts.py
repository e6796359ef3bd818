"""The model check of small labs, and of schedulers without one of their parts."""

from __future__ import annotations

import os

import pytest

from tests.domain.scheduling.rules import LOCKING, WAKING
from tests.model_check.explore import Exploration, explore, story
from tests.model_check.families import FAMILIES
from tests.model_check.parallel import explore_one, run_parallel, walk_one
from tests.model_check.removed_parts import ALL_PARTS, NOT_NEEDED, PARTS, RemovedPart

SEED = 1

# The number of labs; None: all. Families whose labs take long are in the soaks alone, and `python -m
# tests.model_check` explores all labs of every family.
SAMPLES = {
    "ticks": 1,
    "two-systems": 3,
    "two-sets": 1,
    "three-sets": 1,
    "overtaking": 2,
    "partitions": 2,
}
WALKS = 30

# All labs, or a sample if all would take longer than some minutes.
LONG = {
    "people": None,
    "two-systems": None,
    "races": None,
    "two-sets": 40,
    "two-sets-ranked": 40,
    "two-sets-capped": 15,
    "two-sets-ranked-breaking": 10,
    "three-sets": 40,
    "overtaking": None,
    "three-sets-breaking": 4,
    "people-races": 2,
    "locks": None,
    "room": None,
    "ticks": None,
    "locks-races": None,
    "partitions": None,
    "partitions-races": None,
}
LONG_WALKS = 400


def _name(part: RemovedPart) -> str:
    return part.name


@pytest.mark.parametrize("part", PARTS, ids=_name)
def test_removed_part__case_that_needs_it__violation(part: RemovedPart) -> None:
    violation = part.without().violation
    assert violation is not None
    assert violation.what.startswith(part.expected), story(violation)


@pytest.mark.soak
@pytest.mark.parametrize("part", PARTS, ids=_name)
def test_nothing_removed__same_case__no_violation(part: RemovedPart) -> None:
    found = part.with_it()
    assert found.violation is None, story(found.violation)


def test_priority_changed__removed_with_any_maxima__no_violation() -> None:
    with_it, without = NOT_NEEDED.with_it(), NOT_NEEDED.without()
    assert without.violation is None
    assert (without.states, without.steps) == (with_it.states, with_it.steps)


@pytest.mark.soak
def test_capped_labs__without_effective_priorities__violation() -> None:
    """The labs of the normal exploration find it, too, not only the special case."""
    part = ALL_PARTS["effective priorities"]
    tasks = FAMILIES["two-sets-capped"].sample(2, SEED)
    with part.removal():
        found = [explore(*task).violation for task in tasks]
    missed = [violation for violation in found if violation is not None]
    assert missed and all(violation.what.startswith(part.expected) for violation in missed)


def test_locks_triggers__every_one__is_taken_out() -> None:
    taken = {part.locks for part in PARTS} - {None}
    # Changes of pools, of the configuration and of recipes, and waiting beside an end (test_locks.py).
    assert taken == LOCKING - {
        *("pools changed", "configuration changed", "waiting for locks", "set changed"),
    }


def test_wake_ups__every_one__is_taken_out() -> None:
    taken = {part.wakes for part in (*PARTS, NOT_NEEDED)} - {None}
    # A tree that a recipe installs was registered before. Open jobs: test_wake_ups.py.
    assert taken == WAKING - {"distro tree registered", "job closed"}


def _explored(name: str, sample: int | None, processes: int) -> Exploration:
    together = Exploration()
    tasks = FAMILIES[name].sample(10**9 if sample is None else sample, SEED)
    for found, text in run_parallel(explore_one, tasks, processes):
        assert text is None, text
        together.add(found)
    print(f"{name}: {together.labs} labs, {together.states} states, {together.steps} steps, seed {SEED}")
    return together


@pytest.mark.parametrize(("name", "sample"), SAMPLES.items())
def test_small_labs__every_order__no_violation(name: str, sample: int | None) -> None:
    assert _explored(name, sample, processes=1).states > 0


def test_larger_labs__random_histories__no_violation() -> None:
    for _, text in run_parallel(walk_one, range(SEED, SEED + WALKS), processes=1):
        assert text is None, text


@pytest.mark.soak
@pytest.mark.parametrize(("name", "sample"), LONG.items())
def test_all_small_labs__every_order__no_violation(name: str, sample: int | None) -> None:
    assert _explored(name, sample, processes=os.cpu_count() or 1).states > 0


@pytest.mark.soak
def test_many_larger_labs__random_histories__no_violation() -> None:
    seeds = range(10_000, 10_000 + LONG_WALKS)
    for _, text in run_parallel(walk_one, seeds, processes=os.cpu_count() or 1):
        assert text is None, text
