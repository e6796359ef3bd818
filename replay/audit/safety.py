"""Safety of grants (design 4.3), by a plain search for an order in which all holders can be completed."""

from __future__ import annotations

from replay.audit.admission import is_held_back
from replay.audit.matching import can_match, unplaced_hosts
from replay.audit.room_order import is_room_kept_from
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import UNPLACED
from replay.audit.values import Recipe, System
from replay.audit.world import FoldedWorld


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
    if not matcher.could_take(recipe, system) or is_held_back(view, recipe.set_id):
        return False
    if is_room_kept_from(view, matcher, recipe.set_id):
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
    """Return the sets that are not completely placed, without those that admission holds back.

    Sets from which room is kept belong to them: it is kept only for a set that will get it.
    """
    unfinished = {recipe.set_id for recipe in view.recipes.values()}
    waiting = (number for number in sorted(unfinished) if unplaced_hosts(view, number))
    return [number for number in waiting if not is_held_back(view, number)]


def anything_runs(view: FoldedWorld) -> bool:
    """Return whether a recipe has started. A set that waits for its locks has not."""
    return any(recipe.has_started for recipe in view.recipes.values())
