"""Refusals: the systems that each rule excludes for a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.supply.filter_key import Demand, FilterKey
from domain.scheduling.supply.labs import Labs
from domain.scheduling.supply.reasons import NO_DISTRO_TREE
from domain.scheduling.supply.rules import FITTING, passing

REQUIREMENT = FITTING[-1]
# Rules about properties of the distro.
_NEED_A_TREE = ("arch", "exclusion")


class Refusal(NamedTuple):
    """A rule, its reason for a single system, and the bitmap of the systems that the rule excludes."""

    rule: str
    reason: str
    systems: int


def refusals(labs: Labs, demand: Demand) -> tuple[Refusal, ...]:
    """Return the refusals of all rules, in their order; a system that no rule refuses is viable.

    Without a distro tree every system is refused for that, and none for the architecture or family of a tree.
    """
    found = tuple(Refusal(rule, reason, _kept_out(labs, ok)) for rule, reason, ok in passing(labs, demand))
    key = demand.key
    if key.own or labs.distro(key.distro_tree_id):
        return found
    reasons = {"distro": NO_DISTRO_TREE} if key.distro_tree_id is None else {}
    return tuple(
        each._replace(
            reason=reasons.get(each.rule, each.reason),
            systems=0 if each.rule in _NEED_A_TREE else each.systems,
        )
        for each in found
    )


def refused_by_filter(labs: Labs, host_requires: str) -> tuple[Refusal, ...]:
    """Return the refusal by a host requirement alone, without distro and access rules."""
    key = FilterKey(host_requires, None)
    return (Refusal(REQUIREMENT.name, REQUIREMENT.of_system, _kept_out(labs, REQUIREMENT.passes(labs, key))),)


def _kept_out(labs: Labs, passed: int) -> int:
    return labs.columns.all_numbers & ~passed


def viable_systems(labs: Labs, refused: Iterable[Refusal]) -> int:
    return labs.columns.all_numbers & ~union(refusal.systems for refusal in refused)


def of_system(refused: Iterable[Refusal], number: int) -> Iterator[Refusal]:
    return (refusal for refusal in refused if refusal.systems >> number & 1)


def refused_only_by(refused: Iterable[Refusal], *rules: str) -> int:
    """Return the systems that some of these rules refuse, and no other rule."""
    refused = list(refused)
    by_rules = union(refusal.systems for refusal in refused if refusal.rule in rules)
    return by_rules & ~union(refusal.systems for refusal in refused if refusal.rule not in rules)
