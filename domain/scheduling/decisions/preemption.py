"""Preemption: sets of queues below their guarantee take the systems of others (design 6.4).

The victims are as few as will do: they are taken in order until the set can be placed, and each of them that
is not needed after all is left out again, the last one first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from domain.queues.tree import QueueTree, paths_upward
from domain.recipe.events import RecipeQueued
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.decisions.claiming import has_room
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.granting import grant
from domain.scheduling.safety.matching import match
from domain.scheduling.supply.reasons import PREEMPTED
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import TIMER, Trigger

MAX_TRIES: Final = 10
"""The number of sets of one queue that a run of the loop tries to place."""


class Victim(NamedTuple):
    """A set that may be preempted, and the numbers of its systems."""

    recipe_set: RecipeSet
    systems: int


class Plan(NamedTuple):
    """The victims of a preemption, and a system for each recipe of the taking set without one."""

    victims: tuple[Victim, ...]
    numbers: tuple[int, ...]


def preempt(partition: Partition, now: datetime) -> Iterator[Decision]:
    """Yield the preemptions that are due. While a trigger is unanswered, its answer comes first."""
    if not partition.configuration.preemption.is_enabled or partition.triggers:
        return
    for recipe_set_id in _taking_sets(partition, now):
        plan = _plan(partition, partition.sets.sets[recipe_set_id])
        if plan is not None:
            yield _decision(partition, recipe_set_id, plan)


def _decision(partition: Partition, recipe_set_id: int, plan: Plan) -> Decision:
    draft = Draft(partition, Trigger(partition.position, TIMER, f"preemption/{recipe_set_id}"))
    draft.depend_on((partition.identity.subject,))
    queued = RecipeQueued(reason=f"{PREEMPTED} {recipe_set_id}", preempted_by=recipe_set_id)
    for victim in plan.victims:
        members = partition.members(victim.recipe_set.recipe_set_id)
        freed = members.freeing(host for host in members.hosts if host.system is not None)
        draft.add(members.all_of(lambda _: queued) + freed)
    missing = _missing(partition, recipe_set_id)
    for host, number in zip(missing, plan.numbers, strict=True):
        grant(draft, partition.sets.recipes[host.recipe_id], partition.system(number))
    return draft.decision()


# The taking sets


def _taking_sets(partition: Partition, now: datetime) -> list[int]:
    """Return the first sets of each queue below its guarantee that have waited long enough."""
    sets, found, tries = partition.sets, list[int](), Counter[str]()
    below = [queue for queue in sets.turns.queues_with_sets() if _is_below(partition, queue)]
    waiting = (each for each in sets.sets.values() if each.submitted.queue in below)
    for recipe_set in sorted(waiting, key=lambda each: (-each.priority, each.submission)):
        queue = recipe_set.submitted.queue
        if tries[queue] < MAX_TRIES and _is_due(partition, recipe_set, now):
            tries[queue] += 1
            found.append(recipe_set.recipe_set_id)
    return found


def _is_due(partition: Partition, recipe_set: RecipeSet, now: datetime) -> bool:
    section, submitted_at = partition.configuration.preemption, recipe_set.submitted_at
    missing = _missing(partition, recipe_set.recipe_set_id)
    if submitted_at is None or not missing or not all(has_room(partition, host) for host in missing):
        return False
    last = partition.sets.preemptions.last_by.get(recipe_set.recipe_set_id)
    is_again = last is None or _has_passed(last, now, section.again_after_seconds)
    return is_again and _has_passed(submitted_at, now, section.after_seconds)


def _has_passed(since: datetime, now: datetime, seconds: int) -> bool:
    """Return whether some seconds have passed; none if the clock stepped back behind `since`."""
    return max(now - since, timedelta()) >= timedelta(seconds=seconds)


def _missing(partition: Partition, recipe_set_id: int) -> list[Recipe]:
    waiting = ("queued", "assigned")
    return [host for host in partition.sets.hosts(recipe_set_id) if host.state in waiting]


def _is_below(partition: Partition, path: str) -> bool:
    """Return whether a queue has fewer systems than its guarantee."""
    queue = partition.sets.admission.tree.find(path)
    guaranteed = None if queue is None else queue.guaranteed
    return guaranteed is not None and partition.sets.turns.used.get(path, 0) < guaranteed


# The victims


def _plan(partition: Partition, recipe_set: RecipeSet) -> Plan | None:
    """Return the plan with the fewest victims of all labs, None if no lab can place the set."""
    if not _is_below(partition, recipe_set.submitted.queue):
        # An earlier preemption of this run has given the queue its guarantee.
        return None
    missing = _missing(partition, recipe_set.recipe_set_id)
    if not missing:
        return None
    bound, queue = missing[0].lab_controller, recipe_set.submitted.queue
    victims = sorted(_victims(partition, recipe_set), key=lambda each: _order(partition, each))
    labs = (of_lab for name, of_lab in sorted(partition.labs.each()) if bound in (None, name))
    plans = (_plan_in_lab(partition, missing, victims, of_lab, queue) for of_lab in labs)
    found = (plan for plan in plans if plan is not None)
    return min(found, key=lambda plan: len(plan.victims), default=None)


def _plan_in_lab(
    partition: Partition, missing: Sequence[Recipe], victims: Sequence[Victim], of_lab: int, queue: str
) -> Plan | None:
    wants = [partition.usable(host) & of_lab for host in missing]
    free = partition.available.idle(forced=True)
    wanted, taken, chosen = union(wants), Counter[str](), list[Victim]()
    for victim in victims:
        if victim.systems & wanted and _may_take(partition, victim, taken, queue):
            chosen.append(victim)
            _count(taken, victim)
            if _match(wants, free, chosen) is not None:
                break
    else:
        return None
    for victim in chosen[::-1]:
        fewer = [each for each in chosen if each is not victim]
        if _match(wants, free, fewer) is not None:
            chosen = fewer
    numbers = _match(wants, free, chosen)
    assert numbers is not None, "the victims suffice"
    return Plan(tuple(chosen), tuple(numbers))


def _match(wants: Sequence[int], free: int, victims: Sequence[Victim]) -> list[int] | None:
    systems = free | union(victim.systems for victim in victims)
    return match([want & systems for want in wants])


def _victims(partition: Partition, taking: RecipeSet) -> Iterator[Victim]:
    """Yield the sets that may be preempted for another one, whatever else is preempted."""
    sets, section = partition.sets, partition.configuration.preemption
    tree, seen = sets.admission.tree, dict[int, None]()
    for recipe_id in sets.placed:
        recipe_set = sets.sets[sets.recipes[recipe_id].recipe_set_id]
        if recipe_set.recipe_set_id in seen:
            continue
        seen[recipe_set.recipe_set_id] = None
        is_other = recipe_set.job_id != taking.job_id and recipe_set.priority <= taking.priority
        is_spared = sets.preemptions.of_job.get(recipe_set.job_id, 0) >= section.max_per_job
        if not is_other or is_spared or not _is_movable(partition, recipe_set):
            continue
        if not _is_across_fence(tree, taking.submitted.queue, recipe_set.submitted.queue):
            hosts = sets.hosts(recipe_set.recipe_set_id)
            held = (host.system for host in hosts if host.system is not None)
            yield Victim(recipe_set, union(1 << partition.labs.number(fqdn) for fqdn in held))


def _is_movable(partition: Partition, recipe_set: RecipeSet) -> bool:
    """Return whether a set has not started, or is preemptible; none of its recipes has ended or is kept."""
    members = partition.members(recipe_set.recipe_set_id)
    is_whole = len(members.recipes) == len(recipe_set.recipe_ids)
    if not is_whole or any(recipe.finished or recipe.state == "reserved" for recipe in members.recipes):
        return False
    return recipe_set.preemptible or not members.started


def _order(partition: Partition, victim: Victim) -> tuple[bool, int, int]:
    recipe_set = victim.recipe_set
    started = partition.members(recipe_set.recipe_set_id).started
    return started, recipe_set.priority, -recipe_set.submission


def _may_take(partition: Partition, victim: Victim, taken: Counter[str], taking: str) -> bool:
    """Return whether no queue of a victim has less than its guarantee without what is taken from it.

    Queues above both keep what the taking set gets.
    """
    tree, used = partition.sets.admission.tree, partition.sets.turns.used
    common = set(paths_upward(taking))
    for path in paths_upward(victim.recipe_set.submitted.queue):
        if path in common:
            break
        queue = tree.find(path)
        guaranteed = 0 if queue is None or queue.guaranteed is None else queue.guaranteed
        if used.get(path, 0) - taken[path] - victim.systems.bit_count() < guaranteed:
            return False
    return True


def _count(taken: Counter[str], victim: Victim) -> None:
    for path in paths_upward(victim.recipe_set.submitted.queue):
        taken[path] += victim.systems.bit_count()


def _is_across_fence(tree: QueueTree, one: str, other: str) -> bool:
    """Return whether a queue from either one up to below their common queue has a fence."""
    common = set(paths_upward(one)) & set(paths_upward(other))
    below = [path for each in (one, other) for path in paths_upward(each) if path not in common]
    return any(queue.fence for path in below if (queue := tree.find(path)) is not None)
