"""Grants: whether a recipe may have a system (design section 4.3), and the events of a grant (4.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from domain.recipe.claim import SERVED
from domain.recipe.events import RecipeAssigned, RecipeScheduled
from domain.recipe.state import Recipe
from domain.recipe_set.ending import end_claim
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.decisions.demanded_systems import is_hopeless
from domain.scheduling.decisions.draft import Draft
from domain.scheduling.decisions.lock_grants import start
from domain.scheduling.safety.completion import Holder, is_completable, stuck
from domain.scheduling.safety.plans import Plans
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import LET_GO
from domain.system.events import SystemScheduled
from domain.system.state import System


def is_safe(partition: Partition, host: Recipe, number: int) -> bool:
    """Return whether a grant is safe: it completes the set, or all holders can be completed after it."""
    if partition.sets.is_single(host.recipe_set_id):
        return True
    lab_controller = partition.system(number).lab_controller
    if is_hopeless(partition, host.recipe_set_id, lab_controller):
        return False
    hosts = partition.sets.hosts(host.recipe_set_id)
    missing = [other for other in hosts if other.state != "scheduled" and other.recipe_id != host.recipe_id]
    if not missing:
        return True
    held = _held(partition, hosts) | 1 << number
    holder = Holder(host.recipe_set_id, held, _wants(partition, missing, lab_controller))
    plans = plans_of(partition, lab_controller)
    if plans is None:
        return _is_safe_beside_stuck(partition, holder, lab_controller)
    return plans.plan(holder) is not None


def _is_safe_beside_stuck(partition: Partition, holder: Holder, lab_controller: str) -> bool:
    """Return whether a grant is safe while the holders of a lab cannot all be completed.

    A set that could be completed before all others does not affect them, so it is safe unless a let-go is
    due. Any other set is safe only if all holders could be completed with it.
    """
    others = [
        other for other in holders(partition, lab_controller) if other.recipe_set_id != holder.recipe_set_id
    ]
    held = union(other.held for other in (holder, *others))
    if is_completable(holder, held) and not partition.triggers.has_unanswered(LET_GO, lab_controller):
        return True
    return not stuck([holder, *others])


def plans_of(partition: Partition, lab_controller: str) -> Plans | None:
    """Return plans to complete all holders of a lab, or None if that is impossible."""
    return partition.holders.plans(lab_controller, lambda number: _holder(partition, number, lab_controller))


def holders(partition: Partition, lab_controller: str) -> list[Holder]:
    """Return the sets that hold some but not all of their systems in a lab."""
    return [
        _holder(partition, recipe_set_id, lab_controller)
        for recipe_set_id in partition.holders.of(lab_controller)
    ]


def _holder(partition: Partition, recipe_set_id: int, lab_controller: str) -> Holder:
    hosts = partition.sets.hosts(recipe_set_id)
    missing = [host for host in hosts if host.state != "scheduled"]
    return Holder(recipe_set_id, _held(partition, hosts), _wants(partition, missing, lab_controller))


def _held(partition: Partition, hosts: Iterable[Recipe]) -> int:
    return union(
        1 << partition.labs.number(host.system) for host in hosts if host.state == "scheduled" and host.system
    )


def _wants(partition: Partition, hosts: Iterable[Recipe], lab_controller: str) -> tuple[int, ...]:
    of_lab = partition.labs.lab_controller[lab_controller]
    return tuple(partition.usable(host) & of_lab for host in hosts)


def grant(
    draft: Draft, host: Recipe, system: System, instead: Iterable[int] = (), overtook: int | None = None
) -> None:
    """Add the events of a grant and of the set's start; `instead`: other possible systems, for `on_grant`.

    `overtook` is the queued recipe that the grant overtakes, if any (`overtaking.py`).
    """
    if draft.partition.on_grant is not None:
        draft.partition.on_grant(draft.trigger, host, system, instead)
    draft.add(end_claim(host, SERVED))
    members = draft.partition.members(host.recipe_set_id)
    draft.depend_on(_named_by_access(draft.partition, host, system))
    # A grant is invalid if the rules of admission change before its commit, or if the partition is stopped.
    # So is one in a lab that leaves the partition.
    draft.depend_on((draft.partition.identity.subject, f"lab-controller/{system.lab_controller}"))
    scheduled = RecipeScheduled(system=system.fqdn, lab_controller=system.lab_controller)
    placed = members.with_guests(host, scheduled)
    if overtook is not None:
        # A guest overtakes no recipe: only the event of the host counts.
        placed[0] = host.subject, replace(scheduled, overtook=overtook)
    draft.add(placed)
    draft.add([(system.subject, SystemScheduled(recipe_id=host.recipe_id))])
    for sibling in members.recipes:
        if sibling.recipe_id == host.recipe_id or sibling.is_guest:
            continue
        if sibling.state in ("new", "queued"):
            assigned = RecipeAssigned(lab_controller=system.lab_controller, reason=None)
            draft.add(members.with_guests(sibling, assigned))
    start(draft, host.recipe_set_id)


def _named_by_access(partition: Partition, host: Recipe, system: System) -> Iterator[str]:
    """Yield the pools of the system and the group of the submitter, on which access depends."""
    yield from (f"pool/{name}" for name in partition.directory.pools_of(system.fqdn))
    group = partition.sets.index.demand(host).submitter.group
    if group is not None:
        yield f"group/{group}"
