"""Preemption: sets of queues below their guarantee take the systems of others (design 6.4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from domain.recipe.events import RecipeQueued
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.granting import grant
from domain.scheduling.decisions.kept_room import room_kept_for
from domain.scheduling.decisions.preemption_plans import (
    Plan,
    Taking,
    TakingDemand,
    VictimLists,
    demand_of,
    plan_for,
)
from domain.scheduling.sets.claims import WAITING
from domain.scheduling.supply.reasons import PREEMPTED
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import TIMER, Trigger

MAX_TRIES: Final = 10
"""The number of different demands in one queue for which a run of the loop finds no victims."""


def preempt(partition: Partition, now: datetime) -> Iterator[Decision]:
    """Yield the preemptions that are due, also while triggers are unanswered: under load some always are."""
    if not partition.configuration.preemption.is_enabled:
        return
    failed: defaultdict[str, set[TakingDemand]] = defaultdict(set)
    victim_lists = VictimLists(partition)
    for recipe_set in _waiting_sets(partition):
        without_victims = failed[recipe_set.submitted.queue]
        if len(without_victims) == MAX_TRIES or not is_due(partition, recipe_set, now):
            continue
        taking = taking_of(partition, recipe_set)
        demand = demand_of(partition, taking)
        if demand in without_victims:
            continue
        plan = plan_for(partition, taking, victim_lists)
        if plan is None:
            without_victims.add(demand)
        else:
            yield _decision(partition, taking, plan)
            victim_lists = VictimLists(partition)


def _decision(partition: Partition, taking: Taking, plan: Plan) -> Decision:
    recipe_set_id = taking.recipe_set.recipe_set_id
    draft = Draft(partition, Trigger(partition.position, TIMER, f"preemption/{recipe_set_id}"))
    draft.depend_on((partition.identity.subject,))
    queued = RecipeQueued(reason=f"{PREEMPTED} {recipe_set_id}", preempted_by=recipe_set_id)
    for victim in plan.victims:
        members = partition.members(victim.recipe_set.recipe_set_id)
        freed = members.freeing(host for host in members.hosts if host.system is not None)
        draft.add(members.all_of(lambda _: queued) + freed)
    for host, number in zip(taking.missing, plan.numbers, strict=True):
        grant(draft, partition.sets.recipes[host.recipe_id], partition.system(number))
    return draft.decision()


# The taking sets


def _waiting_sets(partition: Partition) -> list[RecipeSet]:
    """Return the unfinished sets of the queues below their guarantee, by priority and submission."""
    sets = partition.sets
    below = {queue for queue in sets.turns.queues_with_sets() if is_below(partition, queue)}
    if not below:
        return []
    waiting = (each for each in sets.sets.values() if each.submitted.queue in below)
    return sorted(waiting, key=lambda each: (-each.priority, each.submission))


def taking_of(partition: Partition, recipe_set: RecipeSet) -> Taking:
    sets, number = partition.sets, recipe_set.recipe_set_id
    missing = _missing(partition, number)
    needs = () if number in sets.rooms.charged else sets.classes.needs(number)
    return Taking(recipe_set, missing, needs)


def is_due(partition: Partition, recipe_set: RecipeSet, now: datetime) -> bool:
    """Return whether a set may preempt others now, if it finds victims."""
    # Decisions of this run may have given the queue its guarantee, or have taken room.
    if not is_below(partition, recipe_set.submitted.queue):
        return False
    section, submitted_at = partition.configuration.preemption, recipe_set.submitted_at
    missing = _missing(partition, recipe_set.recipe_set_id)
    is_in_line = all(partition.sets.places.line_of(host) is not None for host in missing)
    if submitted_at is None or not missing or not is_in_line:
        return False
    last = partition.sets.preemptions.last_by.get(recipe_set.recipe_set_id)
    is_again = last is None or has_passed(last, now, section.again_after_seconds)
    has_waited = is_again and has_passed(submitted_at, now, section.after_seconds)
    # Not even room that victims give up goes to a set from which room is kept.
    return has_waited and room_kept_for(partition, missing[0]) is None


def has_passed(since: datetime, now: datetime, seconds: int) -> bool:
    """Return whether some seconds have passed; none if the clock stepped back behind `since`."""
    return max(now - since, timedelta()) >= timedelta(seconds=seconds)


def _missing(partition: Partition, recipe_set_id: int) -> list[Recipe]:
    return [host for host in partition.sets.hosts(recipe_set_id) if host.state in WAITING]


def is_below(partition: Partition, path: str) -> bool:
    """Return whether a queue has fewer systems than its guarantee."""
    queue = partition.sets.admission.tree.find(path)
    guaranteed = None if queue is None else queue.guaranteed
    return guaranteed is not None and partition.sets.turns.used.get(path, 0) < guaranteed
