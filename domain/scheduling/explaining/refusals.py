"""Which rule keeps which systems from a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.supply.filter_key import Demand, FilterKey
from domain.scheduling.supply.labs import Labs
from domain.scheduling.supply.rules import FITTING, passing

REQUIREMENT = FITTING[-1]


class Refusal(NamedTuple):
    """A rule, what it says of one system, and the bitmap of those that it does not let through."""

    rule: str
    says: str
    systems: int


def refusals(labs: Labs, demand: Demand) -> tuple[Refusal, ...]:
    """Of every rule, in their order; a system that none refuses is viable."""
    return tuple(Refusal(name, says, _kept_out(labs, passed)) for name, says, passed in passing(labs, demand))


def refused_by_filter(labs: Labs, host_requires: str) -> tuple[Refusal, ...]:
    """The same of a host requirement alone, whatever is to be installed, and whoever asks."""
    key = FilterKey(host_requires, None)
    return (Refusal(REQUIREMENT.name, REQUIREMENT.of_system, _kept_out(labs, REQUIREMENT.passes(labs, key))),)


def _kept_out(labs: Labs, passed: int) -> int:
    return labs.columns.everyone & ~passed


def viable(labs: Labs, told: Iterable[Refusal]) -> int:
    """Those that none of them refuses."""
    return labs.columns.everyone & ~union(refusal.systems for refusal in told)


def of_system(told: Iterable[Refusal], number: int) -> Iterator[Refusal]:
    """All that refuse one system."""
    return (refusal for refusal in told if refusal.systems >> number & 1)


def refused_only_by(told: Iterable[Refusal], *rules: str) -> int:
    """The systems that some of these rules refuse, and no other."""
    told = list(told)
    some = union(refusal.systems for refusal in told if refusal.rule in rules)
    return some & ~union(refusal.systems for refusal in told if refusal.rule not in rules)
