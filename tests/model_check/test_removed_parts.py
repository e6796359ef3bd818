"""Each part of the scheduler is needed: where it is taken out, the model check finds what goes wrong."""

from __future__ import annotations

import pytest

from tests.domain.scheduling.rules import WAKING
from tests.model_check.explore import explore, story
from tests.model_check.families import FAMILIES
from tests.model_check.removed_parts import ALL_PARTS, NOT_MISSED, PARTS, TakenOut
from tests.model_check.sizes import SEED


def _name(part: TakenOut) -> str:
    return part.name


@pytest.mark.parametrize("part", PARTS, ids=_name)
def test_taken_out__in_a_case_that_needs_it__is_missed(part: TakenOut) -> None:
    violation = part.without().violation
    assert violation is not None
    assert violation.what.startswith(part.says), story(violation)


@pytest.mark.parametrize("part", PARTS, ids=_name)
def test_nothing_taken_out__in_the_same_case__all_goes_well(part: TakenOut) -> None:
    found = part.with_it()
    assert found.violation is None, story(found.violation)


def test_priority_changed__taken_out_whatever_the_maxima__changes_nothing() -> None:
    with_it, without = NOT_MISSED.with_it(), NOT_MISSED.without()
    assert without.violation is None
    assert (without.states, without.steps) == (with_it.states, with_it.steps)


@pytest.mark.soak
def test_capped_labs__without_effective_priorities__are_where_it_is_missed() -> None:
    """The labs that the model check goes through anyway, and not only the case that was made for it."""
    part = ALL_PARTS["effective priorities"]
    tasks = FAMILIES["two-sets-capped"].sample(2, SEED)
    with part.taking():
        found = [explore(*task).violation for task in tasks]
    missed = [violation for violation in found if violation is not None]
    assert missed and all(violation.what.startswith(part.says) for violation in missed)


def test_wake_ups__every_one__is_taken_out() -> None:
    taken = {part.wakes for part in (*PARTS, NOT_MISSED)} - {None}
    # A tree that a recipe installs was registered before.
    assert taken == WAKING - {"distro tree registered"}
