"""The model check finds planted faults, and enumerates all cases once."""

from __future__ import annotations

from itertools import permutations
from unittest.mock import patch

import pytest

from domain.scheduling.world.partition import Partition
from tests.model_check import decisions
from tests.model_check import invariants as rest
from tests.model_check.case import LabCase, case
from tests.model_check.copying import Copier
from tests.model_check.enumeration import all_cases
from tests.model_check.explore import explore
from tests.model_check.families import JOBS
from tests.model_check.model import ModelWorld
from tests.model_check.removed_parts import ALL_PARTS
from tests.model_check.steps import Options
from tests.model_check.walk import walk

JUST_JOBS = Options(JOBS)


def test_idle_check_removed__two_jobs_for_one_system__double_booking() -> None:
    with patch.object(Partition, "idle", Partition.usable):
        violation = explore(case("a", "a", "a"), JUST_JOBS).violation
    assert violation is not None
    assert "double booking" in violation.what
    assert violation.story[0] in ("submit 0", "submit 1")


def test_safety__removed_and_not_checked__deadlock_is_found() -> None:
    """The sets wait for ever, which the deadlock check finds without the safety check."""
    part = ALL_PARTS["the safety rule"]
    with part.removal(), patch.object(decisions, "is_safe", _yes), patch.object(rest, "is_safe", _yes):
        violation = explore(part.needed_in, part.options).violation
    assert violation is not None
    assert violation.what.startswith("deadlock")


def _yes(*_: object) -> bool:
    return True


@pytest.mark.soak
def test_walk__one_seed__same_history() -> None:
    part = ALL_PARTS["wake-up: lab enabled"]
    walks = ((seed, walk(seed, part.rules).violation) for seed in range(200))
    seed, first = next((seed, violation) for seed, violation in walks if violation)
    again = walk(seed, part.rules).violation
    assert first is not None and again is not None
    assert (first.what, first.story) == (again.what, again.story)


def test_copy__of_a_world__is_independent() -> None:
    world = ModelWorld(case("a b", "a b", "ab"))
    world.submit_job(1)
    copied = Copier().copy(world)
    copied.settle()
    copied.submit_job(0)
    copied.settle()
    assert copied.states() == ["waiting", "assigned", "scheduled"]
    assert world.states() == ["new"]
    assert len(world.partition.triggers.waiting()) == 1
    world.settle()
    assert world.states() == ["waiting"]


def test_all_cases__two_systems_and_one_set__expected_list() -> None:
    assert set(all_cases(2, 1, 2)) == {
        case("a b", "ab"),
        case("a b", "a b"),
        case("a b", "a ab"),
        case("a b", "ab ab"),
        # In two labs a set of two recipes cannot start.
        case("a b@2", "ab"),
    }


def test_case__systems_renamed__not_listed_twice() -> None:
    cases = set(all_cases(3, 2, 2))
    for each in cases:
        assert not (_others(each) & cases), str(each)


def _others(original: LabCase) -> set[LabCase]:
    """Return the same case with other names for its systems."""
    renamed = {_renamed(original, order) for order in permutations("abc")}
    return renamed - {original}


def _renamed(original: LabCase, order: tuple[str, ...]) -> LabCase:
    name = dict(zip("abc", order, strict=True))
    labs = {name[fqdn]: lab.removeprefix("lab-") for fqdn, lab, _ in original.systems}
    jobs = [
        sorted("".join(sorted(name[fqdn] for fqdn in want.names)) for want in job.wants)
        for job in original.jobs
    ]
    return case(" ".join(f"{fqdn}@{labs[fqdn]}" for fqdn in "abc"), *(" ".join(job) for job in sorted(jobs)))
