"""The rules that decide which systems are viable for a recipe, in order, each with its reason (design 5.1).

A rule returns a bitmap over all systems (bit n: system number n), so its number of steps does not depend on
the size of the lab. A system that passes every rule is viable. The rules of `FITTING` depend on the
`FilterKey` of a recipe, those of `ACCESS_RULES` on its `Submitter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Generic, TypeVar

from domain.access.submit_rights import Submitter
from domain.requirements import from_text, matching
from domain.scheduling.supply import reasons

if TYPE_CHECKING:
    from domain.scheduling.supply.filter_key import Demand, FilterKey
    from domain.scheduling.supply.labs import Labs

About = TypeVar("About")


@dataclass(frozen=True)
class Rule(Generic[About]):
    """A rule, its name for people, and the reasons if no system, or no system that matches, passes."""

    name: str
    passes: Callable[[Labs, About], int]
    reason: str
    of_matches: str = reasons.NO_MATCH_FITS

    @property
    def of_system(self) -> str:
        """Return the reason for a single system that does not pass."""
        return reasons.OF_SYSTEM[self.name]


def _registered(labs: Labs, _: FilterKey) -> int:
    return labs.registered


def _distro_in_lab(labs: Labs, key: FilterKey) -> int:
    return labs.registered if key.own else labs.with_tree(key.distro_tree_id)


def _guests_in_lab(labs: Labs, key: FilterKey) -> int:
    return reduce(lambda passed, tree: passed & labs.with_tree(tree), key.guest_tree_ids, labs.registered)


def _arch_of_distro(labs: Labs, key: FilterKey) -> int:
    return labs.with_arch(key.own or labs.distro(key.distro_tree_id))


def _not_excluded(labs: Labs, key: FilterKey) -> int:
    return labs.not_excluding(key.own or labs.distro(key.distro_tree_id))


def _requirement(labs: Labs, key: FilterKey) -> int:
    return matching(from_text(key.host_requires), labs.columns)


def _access(labs: Labs, submitter: Submitter) -> int:
    return labs.access.entitled(submitter)


def _loan(labs: Labs, submitter: Submitter) -> int:
    return labs.access.not_lent_away(submitter)


FITTING: tuple[Rule[FilterKey], ...] = (
    # A removed system never runs a recipe, whatever else holds.
    Rule("registered", _registered, reasons.NOT_REGISTERED),
    # A distro tree must be in the lab that would install it.
    Rule("distro", _distro_in_lab, reasons.NO_LAB_HAS_THE_TREE, reasons.NO_MATCH_HAS_THE_TREE),
    # Guests are installed from the same lab as their host.
    Rule("guests", _guests_in_lab, reasons.NO_LAB_HAS_THE_GUESTS, reasons.NO_MATCH_HAS_THE_GUESTS),
    Rule("arch", _arch_of_distro, reasons.NO_SYSTEM_OF_THE_ARCH, reasons.NO_MATCH_OF_THE_ARCH),
    # Owners exclude distro families that do not run on their systems.
    Rule("exclusion", _not_excluded, reasons.ALL_EXCLUDE_THE_FAMILY, reasons.ALL_MATCHES_EXCLUDE),
    # The last rule, because the submitter wrote the requirement and can change it. A requirement that forces
    # a system matches only that system.
    Rule("requirement", _requirement, reasons.NO_SYSTEM_MATCHES),
)

# Owners decide who may submit to their systems, and pools for all of theirs; force does not override that.
ACCESS: Rule[Submitter] = Rule("access", _access, reasons.NO_ACCESS)
# Only the borrower may use a system on loan. The loan ends some day, so no recipe is given up for it.
LOAN: Rule[Submitter] = Rule("loan", _loan, reasons.ALL_LENT)

ACCESS_RULES: tuple[Rule[Submitter], ...] = (ACCESS, LOAN)


def fitting(labs: Labs, key: FilterKey) -> int:
    """Return the systems that fit a filter: they pass all rules of `FITTING`."""
    return reduce(lambda passed, rule: passed & rule.passes(labs, key), FITTING, labs.registered)


def passing(labs: Labs, demand: Demand) -> Iterator[tuple[str, str, int]]:
    """Yield each rule in order: its name, its reason for a single system, and the systems that pass."""
    for rule in FITTING:
        yield rule.name, rule.of_system, rule.passes(labs, demand.key)
    for admits in ACCESS_RULES:
        yield admits.name, admits.of_system, admits.passes(labs, demand.submitter)


def could_install(labs: Labs, key: FilterKey) -> int:
    """Return the systems that pass all rules of `FITTING` except the host requirement."""
    return reduce(lambda passed, rule: passed & rule.passes(labs, key), FITTING[:-1], labs.registered)


def why_none(labs: Labs, key: FilterKey, among: int) -> str:
    """Return the reason of the first rule that leaves no system, or why none of the matching ones fits."""
    left = labs.registered & among
    for rule in FITTING:
        left &= rule.passes(labs, key)
        if not left:
            return _of_matches(labs, key, among) if rule is FITTING[-1] else rule.reason
    raise AssertionError(f"{key} fits systems")


def _of_matches(labs: Labs, key: FilterKey, among: int) -> str:
    matches = labs.registered & among & _requirement(labs, key)
    if not matches:
        return reasons.NO_SYSTEM_MATCHES
    for rule in FITTING:
        if not matches & rule.passes(labs, key):
            return rule.of_matches
    return reasons.NO_MATCH_FITS
