"""Each part of the scheduler is needed: without it, the model check finds a violation."""

from __future__ import annotations

import pytest

from tests.domain.scheduling.rules import WAKING
from tests.model_check.explore import explore, story
from tests.model_check.families import FAMILIES
from tests.model_check.removed_parts import ALL_PARTS, NOT_NEEDED, PARTS, RemovedPart
from tests.model_check.sizes import SEED


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


def test_wake_ups__every_one__is_taken_out() -> None:
    taken = {part.wakes for part in (*PARTS, NOT_NEEDED)} - {None}
    # A tree that a recipe installs was registered before.
    assert taken == WAKING - {"distro tree registered"}
