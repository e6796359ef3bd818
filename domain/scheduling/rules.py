"""The rules that say which systems are viable for a recipe, in order, each with its reason (design 5.1).

A rule answers with a bitmap over all systems (bit n: system number n), so that it costs the same number of
steps whatever the size of the lab. `viable` is what every rule lets through.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from domain.requirements import from_text, matching

if TYPE_CHECKING:
    from domain.scheduling.filters import FilterKey
    from domain.scheduling.lab import Lab

Predicate = Callable[["Lab", "FilterKey"], int]


@dataclass(frozen=True)
class Rule:
    """One row: a name for people, who passes, and what is said of a recipe whom it leaves nobody."""

    name: str
    passes: Predicate
    reason: str


def _registered(lab: Lab, _: FilterKey) -> int:
    return lab.registered


def _distro_in_lab(lab: Lab, key: FilterKey) -> int:
    return lab.with_tree(key.distro_tree_id)


def _arch_of_distro(lab: Lab, key: FilterKey) -> int:
    return lab.with_arch_of_tree(key.distro_tree_id)


def _not_excluded(lab: Lab, key: FilterKey) -> int:
    return lab.not_excluding_tree(key.distro_tree_id)


def _requirement(lab: Lab, key: FilterKey) -> int:
    return matching(from_text(key.host_requires), lab.columns)


VIABLE: tuple[Rule, ...] = (
    # A removed system serves nobody, whatever else holds.
    Rule("registered", _registered, "no system is registered"),
    # Seed 000: a distro tree must be in the lab that would install it.
    Rule("distro", _distro_in_lab, "no lab has the distro tree"),
    Rule("arch", _arch_of_distro, "no system has the architecture of the distro tree"),
    # Owners exclude distro families that are known not to run on their machine.
    Rule("exclusion", _not_excluded, "every system excludes the distro family"),
    # Last, because it is the one the submitter wrote and can change.
    Rule("requirement", _requirement, "no system matches the host requirements"),
)


def viable(lab: Lab, key: FilterKey) -> int:
    """The systems that could run a recipe with this filter, busy or not."""
    return reduce(lambda passed, rule: passed & rule.passes(lab, key), VIABLE, lab.registered)


def why_none(lab: Lab, key: FilterKey) -> str:
    """The reason of the first rule that leaves nobody, for a filter that nobody is viable for."""
    left = lab.registered
    for rule in VIABLE:
        left &= rule.passes(lab, key)
        if not left:
            return rule.reason
    raise AssertionError(f"{key} has viable systems")
