"""Systems of their own for all recipes of a set, by a search for augmenting paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import UNPLACED
from replay.audit.values import Recipe
from replay.audit.world import FoldedWorld


def unplaced_hosts(view: FoldedWorld, number: int) -> list[Recipe]:
    """Return the recipes of a set that have no system, without guests."""
    return [host for host in view.hosts(number) if host.state in UNPLACED]


def can_match(matcher: SystemMatcher, hosts: list[Recipe], lab: str, held: Set[str | None]) -> bool:
    """Return whether each host can have a usable system of its own that is not held."""
    choices = {host.recipe_id: matcher.usable_systems(host, lab) for host in hosts}
    taken: dict[str, int] = {}
    return all(_match(number, choices, taken, set(), held) for number in choices)


def _match(
    number: int,
    choices: Mapping[int, Iterable[str]],
    taken: dict[str, int],
    tried: set[str],
    held: Set[str | None],
) -> bool:
    """Give a host a system (augmenting path): move other hosts to other systems where needed."""
    for fqdn in choices[number]:
        if fqdn in tried or fqdn in held:
            continue
        tried.add(fqdn)
        if fqdn not in taken or _match(taken[fqdn], choices, taken, tried, held):
            taken[fqdn] = number
            return True
    return False


def labs_with_room(view: SchedulerView, matcher: SystemMatcher, number: int) -> list[str]:
    """Return the labs in which a set could be completed if no other set held a system there."""
    hosts = view.hosts(number)
    own = {host.system for host in hosts}
    bound = {host.lab for host in hosts if host.lab is not None}
    labs = sorted(bound or view.systems_of)
    return [lab for lab in labs if can_match(matcher, unplaced_hosts(view, number), lab, own)]
