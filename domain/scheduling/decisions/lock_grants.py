"""The start of recipe sets, and the grant of resource locks to sets that wait for them (design 4.4, 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.contention.algebra import held
from domain.contention.documents import locks_to_json
from domain.contention.locks import NO_LOCKS, Locks
from domain.recipe.events import RecipeLocked, RecipeWaiting
from domain.recipe.state import Recipe
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import Trigger
from domain.system.events import SystemWaiting


def start(draft: Draft, recipe_set_id: int) -> None:
    """Start a set once all its recipes are scheduled: with its locks, or waiting for them."""
    partition = draft.partition
    hosts = partition.sets.hosts(recipe_set_id)
    if any(host.state != "scheduled" for host in hosts):
        return
    locks = {host.recipe_id: locks_at_start(partition, host) for host in hosts if host.locks != NO_LOCKS}
    can_start = (not locks and partition.locks.is_free) or partition.locks.can_start(
        partition.sets.lock_records.as_wanted(recipe_set_id, locks.values())
    )
    if locks:
        _depend_on_pools(draft, hosts)
    members = partition.members(recipe_set_id)
    for host in hosts:
        assert host.system is not None, f"{host.subject} is scheduled"
        for recipe in (host, *members.guests_of(host)):
            document = _document(locks, recipe) if can_start else None
            draft.add([(recipe.subject, RecipeWaiting(system=host.system, locks=document))])
        draft.add([(f"system/{host.system}", SystemWaiting(recipe_id=host.recipe_id))])


def grant_locks(partition: Partition, trigger: Trigger, recipe_set_id: int) -> Decision:
    """Return the decision that gives all its locks to a set that waits for them and can have them."""
    draft = Draft(partition, trigger)
    members = partition.members(recipe_set_id)
    locks = {host.recipe_id: locks_at_start(partition, host) for host in members.hosts}
    _depend_on_pools(draft, members.hosts)
    draft.depend_on((draft.partition.identity.subject,))
    draft.add(members.all_of(lambda recipe: RecipeLocked(locks=_document(locks, recipe))))
    return draft.decision()


def locks_at_start(partition: Partition, host: Recipe) -> Locks:
    """Return the locks that a recipe with a system takes: its declared ones, with unknown names as all."""
    locks = partition.locks_of_placed(host)
    return locks if locks == NO_LOCKS else held(locks)


def _document(locks: Mapping[int, Locks], recipe: Recipe) -> dict[str, Any]:
    """Return the locks of a recipe as stored in the log; a guest has none, since its host has them."""
    return locks_to_json(locks[recipe.recipe_id]) if recipe.recipe_id in locks else {}


def _depend_on_pools(draft: Draft, hosts: tuple[Recipe, ...]) -> None:
    """Let the commit fail if the pools of a system change before the commit, since locks may name them."""
    for host in hosts:
        if host.locks != NO_LOCKS and host.system is not None:
            pools = draft.partition.directory.pools_of(host.system)
            draft.depend_on(f"pool/{name}" for name in pools)
