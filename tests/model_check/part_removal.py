"""Context managers that remove a part of the scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from heapq import heappush
from unittest.mock import patch

from domain.access.submit_rights import SubmitRights
from domain.priority import Priority
from domain.queues.order import QueueOrder
from domain.recipe import state as recipe_states
from domain.recipe.events import RecipeQueued
from domain.recipe.state import Recipe
from domain.recipe_set import members
from domain.scheduling.admitting import admission
from domain.scheduling.admitting.rooms import Rooms
from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.decisions import (
    claiming,
    decide,
    granting,
    kept_room,
    new_job,
    overtaking,
    pending_system,
    preemption,
    room_order,
    system_order,
    wake_groups,
    wake_up_grants,
)
from domain.scheduling.decisions.draft import Draft
from domain.scheduling.demand import filters
from domain.scheduling.demand.lines import ranks_as_queued
from domain.scheduling.demand.overtakings import Overtakings
from domain.scheduling.demand.weighing import Weighing
from domain.scheduling.locking.lock_queue import LockQueue
from domain.scheduling.sets import host_places
from domain.scheduling.supply import availability
from domain.scheduling.world import lab_moves, partition, triggers
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import LET_GO, NEW_JOB, PENDING_SYSTEM, WAKE_UP, Trigger, Triggers
from domain.system.state import System
from domain.system.usage import is_open


@contextmanager
def without_safety() -> Iterator[None]:
    """Treat every grant as safe."""
    with ExitStack() as stack:
        for module in (claiming, granting, new_job, overtaking, room_order, wake_groups, wake_up_grants):
            stack.enter_context(patch.object(module, "is_safe", lambda *_: True))
        yield


def without_claims() -> AbstractContextManager[object]:
    """Let no recipe claim the system that it forces."""
    return patch.object(decide, "claim_changes", lambda _: iter(()))


@contextmanager
def without_asking_claimants() -> Iterator[None]:
    """Ask recipes in the usual order, also where another recipe claims the system."""
    with ExitStack() as stack:
        for module in (room_order, wake_up_grants):
            stack.enter_context(patch.object(module, "claimant_for_system", lambda *_: None))
        yield


def without_end_of_claims_in_grants() -> AbstractContextManager[object]:
    return patch.object(granting, "end_claim", lambda *_: [])


def without_check_of_occupied_systems() -> AbstractContextManager[object]:
    """Let recipes have systems that something else occupies."""
    return patch.object(availability, "is_open", _is_open_unless_occupied)


def _is_open_unless_occupied(system: System, lab_enabled: bool) -> bool:
    return is_open(replace(system, occupied=None), lab_enabled)


def without_placement_of_all() -> AbstractContextManager[object]:
    """Let a set preempt others for the first of its recipes only."""
    missing = preemption._missing
    return patch.object(preemption, "_missing", lambda *asked: missing(*asked)[:1])


def without_place_of_victims() -> AbstractContextManager[object]:
    """Rank sets that were preempted as if they had been submitted later."""
    count = Partition._count_preemption

    def behind(self: Partition, recipe: Recipe, event: RecipeQueued, *more: object) -> None:
        count(self, recipe, event, *more)
        recipe_set = self.sets.sets[recipe.recipe_set_id]
        if event.preempted_by is not None and recipe.recipe_id == recipe_set.recipe_ids[-1]:
            self.sets.put_set(replace(recipe_set, submission=recipe_set.submission + 1_000_000))

    return patch.object(Partition, "_count_preemption", behind)


def without_attempts() -> AbstractContextManager[object]:
    """Keep the tasks of recipes that go back after their start."""
    return patch.object(recipe_states, "_begin_again", lambda recipe: recipe)


def without_let_go() -> AbstractContextManager[object]:
    """Let stuck holders keep their systems."""
    return patch.object(decide, "stuck_lab", lambda _: None)


def without_assigned_first() -> AbstractContextManager[object]:
    """Rank queued recipes before assigned ones of equal priorities."""
    return patch.object(filters, "ranks_as_queued", lambda line: not ranks_as_queued(line))


def _assigned_always_first(_: Partition) -> tuple[system_order.Tier, ...]:
    return system_order.ASSIGNED_FIRST


@contextmanager
def without_priorities_first() -> Iterator[None]:
    """Rank assigned recipes before all queued ones, whatever their priorities."""
    with (
        patch.object(system_order, "tiers_of", _assigned_always_first),
        patch.object(wake_groups, "tiers_of", _assigned_always_first),
        patch.object(wake_up_grants, "tiers_of", _assigned_always_first),
    ):
        yield


def without_bound_on_overtaking() -> AbstractContextManager[object]:
    """Count overtakings, but never prefer a set that was overtaken often."""
    return patch.object(Overtakings, "is_owed", lambda *_: False)


def without_counting() -> AbstractContextManager[object]:
    """Let grants overtake queued recipes without a count."""
    return patch.object(overtaking, "overtaken", lambda *_: None)


def without_pending_first() -> AbstractContextManager[object]:
    """Answer wake-ups before pending systems."""
    return patch.object(triggers, "ORDER", (LET_GO, WAKE_UP, PENDING_SYSTEM, NEW_JOB))


def without_basis() -> AbstractContextManager[object]:
    """Rank a recipe that becomes assigned in a batch with the assigned ones at once."""
    return patch.object(host_places, "newly_assigned_line", lambda lab_controller: lab_controller)


@contextmanager
def without_ranks_over_all() -> Iterator[None]:
    """Answer a wake-up system by system, in the order of names."""
    with without_basis(), patch.object(wake_up_grants, "best_recipes", _of_the_first_by_name):
        yield


def _of_the_first_by_name(
    partition: Partition, groups: list[wake_groups.WakeGroup]
) -> list[wake_groups.BestRecipe]:
    for number in sorted(
        numbers_in(union(group.systems for group in groups)), key=partition.labs.names.__getitem__
    ):
        alone = [_of_one(group, number) for group in groups if group.systems >> number & 1]
        if best := _best_recipes(partition, alone):
            return best
    return []


def _of_one(group: wake_groups.WakeGroup, number: int) -> wake_groups.WakeGroup:
    return replace(group, systems=1 << number, searches={}, first_of_queues={})


_best_recipes = wake_groups.best_recipes


def without_rank_of_new_sets() -> AbstractContextManager[object]:
    return patch.object(Triggers, "_push_into_batch", _push_by_position)


def _push_by_position(self: Triggers, trigger: Trigger) -> None:
    heappush(self._batch[trigger.kind].setdefault("", []), ((trigger.position,), trigger))


def without_looking_first() -> AbstractContextManager[object]:
    """Let a new job take systems that a wake-up is about to ask."""
    return patch.object(Triggers, "pending_wake_ups", lambda _: iter(()))


def without_owed_locks() -> AbstractContextManager[object]:
    """Count the overtakings of sets that wait for locks, but owe them nothing."""
    return patch.object(LockQueue, "_owed_before", lambda *_: iter(()))


def without_locks_at_once() -> AbstractContextManager[object]:
    """Let sets start without a look at the locks that others hold."""
    return patch.object(LockQueue, "can_start", lambda *_: True)


def without_siblings_scheduled_again() -> AbstractContextManager[object]:
    """Leave the siblings of a withdrawn recipe waiting."""
    return patch.object(members, "_scheduled_again", lambda *_: [])


def without_limits() -> AbstractContextManager[object]:
    return patch.object(Rooms, "has_room", lambda *_: True)


@contextmanager
def without_order_of_room() -> Iterator[None]:
    """Give room to the set whose system is asked first."""
    with ExitStack() as stack:
        for module in (new_job, pending_system, wake_up_grants):
            stack.enter_context(patch.object(module, "first_rival", lambda *_: None))
        yield


def without_charging_the_whole_set() -> AbstractContextManager[object]:
    """Charge a set of several recipes as one."""
    needs = Rooms.needs
    return patch.object(
        Rooms, "needs", lambda rooms, recipe_set, _, applying: needs(rooms, recipe_set, 1, applying)
    )


def without_kept_room() -> AbstractContextManager[object]:
    """Give freed room to any set, however long a set before it has waited for more."""
    return patch.object(kept_room, "_is_aged", lambda *_: False)


def without_weighing_again() -> AbstractContextManager[object]:
    """Keep the weights of waiting sets when others get systems or end."""
    return patch.object(Weighing, "_weigh_again", lambda *_: None)


def without_shares() -> AbstractContextManager[object]:
    """Ask queues as if none of them used a system."""
    return patch.object(QueueOrder, "share", lambda *_: 0)


def without_ageing() -> AbstractContextManager[object]:
    return patch.object(Weighing, "age", lambda *_: 0)


def without_dependencies() -> AbstractContextManager[object]:
    return _without_row(admission.DEPENDENCY)


def without_job_filters() -> AbstractContextManager[object]:
    return _without_row(admission.JOB_FILTER)


def _without_row(name: str) -> AbstractContextManager[object]:
    return patch.object(admission, "ROWS", tuple(row for row in admission.ROWS if row.name != name))


def without_maxima() -> AbstractContextManager[object]:
    """Ignore maximum effective priorities."""
    return patch.object(SubmitRights, "maximum", lambda *asked: _maximum(*asked) and Priority.Urgent)


def without_access() -> AbstractContextManager[object]:
    return patch.object(SubmitRights, "maximum", lambda *_: Priority.Urgent)


_maximum = SubmitRights.maximum


@contextmanager
def without_departures() -> Iterator[None]:
    """Keep the idle systems of a lab that leaves the partition."""

    def gone(system: System) -> System:
        return system if system.usage == "idle" else lab_moves.gone(system)

    def serve(self: Partition, lab: str) -> None:
        self.available.serve(lab, self.directory.is_serving(lab))

    with patch.object(partition, "gone", gone), patch.object(Partition, "_serve", serve):
        yield


def without_dependence_on_labs() -> AbstractContextManager[object]:
    """Grant a system although its lab has left the partition since the basis."""
    return patch.object(Draft, "depend_on", lambda *_: None)
