"""The enumeration of cases, compared with a short list written by hand."""

from __future__ import annotations

from itertools import permutations

from tests.model_check.case import LabCase, case
from tests.model_check.enumeration import all_cases


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
