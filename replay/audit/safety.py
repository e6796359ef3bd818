"""Safety of grants (design 4.3), by a plain search for an order in which all holders can be completed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import STARTED, UNPLACED
from replay.audit.values import Recipe, System
from replay.audit.world import FoldedWorld


def unplaced_hosts(view: FoldedWorld, number: int) -> list[Recipe]:
    """Return the recipes of a set that have no system, without guests."""
    return [host for host in view.hosts(number) if host.state in UNPLACED]


def stuck_holders(view: SchedulerView, matcher: SystemMatcher, lab: str) -> list[int]:
    """Return holders of a lab that cannot be completed in any order; labs are independent of each other."""
    holders = ((number, unplaced_hosts(view, number)) for number in sorted(view.holding[lab]))
    left = {number: rest for number, rest in holders if rest and _are_readable(view, matcher, rest)}
    while left:
        held = {host.system for number in left for host in view.hosts(number) if host.state == "scheduled"}
        completable = [number for number, rest in left.items() if can_match(matcher, rest, lab, held)]
        if not completable:
            break
        for number in completable:
            del left[number]
    return list(left)


def _are_readable(view: SchedulerView, matcher: SystemMatcher, hosts: list[Recipe]) -> bool:
    return all(matcher.is_readable(view.need(host)) for host in hosts)


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


def is_safe(view: SchedulerView, matcher: SystemMatcher, lab: str) -> bool:
    """Return whether every holder of a lab can be completed; True is cached per holder version."""
    version = view.holder_versions.get(lab, 0)
    if matcher.safe_versions.get(lab) != version:
        if stuck_holders(view, matcher, lab):
            return False
        matcher.safe_versions[lab] = version
    return True


def could_take_safely(view: SchedulerView, matcher: SystemMatcher, recipe: Recipe, system: System) -> bool:
    """Return whether a recipe could take a system, and every holder could be completed afterwards."""
    lab = system.lab
    if not matcher.could_take(recipe, system):
        return False
    rest = [host for host in unplaced_hosts(view, recipe.set_id) if host.recipe_id != recipe.recipe_id]
    if not rest:
        # The last recipe of its set: the set starts, and its systems come free.
        return True
    if not can_match(matcher, rest, lab, {system.fqdn}):
        return False
    if is_safe(view, matcher, lab) and can_match(matcher, rest, lab, {*view.held[lab], system.fqdn}):
        # The set can be completed before all others, and then the state is as safe as before.
        return True
    with view.tentatively():
        _grant(view, recipe, system)
        return not stuck_holders(view, matcher, lab)


def _grant(view: SchedulerView, recipe: Recipe, system: System) -> None:
    """Place this recipe on this system, and bind its siblings to the lab."""
    for member in view.members(recipe.set_id):
        if member.recipe_id == recipe.recipe_id:
            view.put_recipe(member.with_state("scheduled", system.fqdn, system.lab))
        elif member.state in UNPLACED:
            view.put_recipe(member.with_state("assigned", None, system.lab))


def waiting_sets(view: FoldedWorld) -> list[int]:
    """Return the sets that are not completely placed."""
    unfinished = {recipe.set_id for recipe in view.recipes.values()}
    return [number for number in sorted(unfinished) if unplaced_hosts(view, number)]


def anything_runs(view: FoldedWorld) -> bool:
    return any(recipe.state in STARTED for recipe in view.recipes.values())
