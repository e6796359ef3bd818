"""The invariant of preemption: the rights of the taking set, and those of its victims (design 6.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from replay.audit.grants import PREEMPTION, DecisionInvariant
from replay.audit.invariant import Violations
from replay.audit.matching import unplaced_hosts
from replay.audit.queue_tree import paths_upward
from replay.audit.record import EventRecord, RecordedDecision
from replay.audit.room_order import is_room_kept_from
from replay.audit.scheduler_view import SchedulerView
from replay.audit.tables import URGENCY
from replay.audit.times import time_of
from replay.audit.values import RecipeSet

# The defaults of the section `preemption`.
AFTER_SECONDS = 30
MAX_PER_JOB = 3


class RightfulPreemptions(DecisionInvariant):
    """A set that preempts others is of a queue below its guarantee, leaves others theirs, and is placed."""

    name = "rightful_preemptions"

    def check_begin(self, view: SchedulerView, decision: RecordedDecision) -> Violations:
        queued = [record for record in decision.records if record.data.get("preempted_by") is not None]
        cause = decision.records[0].cause
        if not queued and not cause.startswith(PREEMPTION):
            return
        for fault in _faults(view, decision, queued, cause):
            subjects = [record.subject for record in queued or decision.records]
            yield self.violation([decision.records[0].position], subjects, fault)
        taking_id = int(cause.removeprefix(PREEMPTION)) if cause.startswith(PREEMPTION) else 0
        if taking_id in view.sets and is_room_kept_from(view, self._matcher, taking_id):
            what = "it preempts others, but the room that it needs is kept for a set before it"
            yield self.violation([decision.records[0].position], [f"recipe-set/{taking_id}"], what)


def _faults(
    view: SchedulerView, decision: RecordedDecision, queued: list[EventRecord], cause: str
) -> Iterator[str]:
    by = {record.data["preempted_by"] for record in queued}
    taking = view.sets.get(next(iter(by), 0))
    if len(by) != 1 or taking is None or cause != f"{PREEMPTION}{taking.set_id}":
        yield f"sets {sorted(by)} preempt others by the cause {cause}"
        return
    recipes = {int(record.name) for record in queued}
    victims = dict.fromkeys(
        view.recipes[number].set_id for number in sorted(recipes) if number in view.recipes
    )
    hosts = {number: tuple(view.hosts(number)) for number in victims}
    yield from _faults_of_taking(view, decision, taking)
    taken, of_jobs = Counter[str](), Counter[int]()
    for number in victims:
        recipe_set = view.sets[number]
        yield from _faults_of_victim(view, taking, recipe_set, recipes)
        of_jobs[recipe_set.job_id] += 1
        for path in paths_upward(_queue(recipe_set)):
            taken[path] += sum(host.system is not None for host in hosts[number])
    gained = sum(each.topic == "system.scheduled" for each in decision.records)
    yield from _faults_of_queues(view, taking, taken, gained)
    yield from _faults_of_jobs(view, taking, of_jobs)


def _faults_of_taking(view: SchedulerView, decision: RecordedDecision, taking: RecipeSet) -> Iterator[str]:
    section, path = _section(view, taking), _queue(taking)
    guaranteed = view.queue_tree.properties(path).get("guaranteed")
    if not section.get("enabled"):
        yield f"recipe-set/{taking.set_id} preempts others, but preemption is off"
    if guaranteed is None or _used(view, path) >= guaranteed:
        yield f"its queue {path} has {_used(view, path)} of {guaranteed} guaranteed systems"
    since, now = time_of(taking.recorded_at), time_of(decision.records[0].now)
    waited = None if since is None or now is None else max(0.0, (now - since).total_seconds())
    if waited is not None and waited < section.get("after_seconds", AFTER_SECONDS):
        yield f"recipe-set/{taking.set_id} has waited {waited:g} s only"
    scheduled = {int(each.name) for each in decision.records if each.topic == "recipe.scheduled"}
    left = [host.subject for host in unplaced_hosts(view, taking.set_id) if host.recipe_id not in scheduled]
    if left:
        yield f"recipe-set/{taking.set_id} preempts others, and {', '.join(left)} still waits"


def _faults_of_victim(
    view: SchedulerView, taking: RecipeSet, victim: RecipeSet, queued: set[int]
) -> Iterator[str]:
    name = f"recipe-set/{victim.set_id}"
    recipes = [view.recipes.get(number) for number in victim.recipe_ids]
    there = [recipe for recipe in recipes if recipe is not None]
    if victim.job_id == taking.job_id:
        yield f"{name} is preempted by a set of its own job"
    if URGENCY[victim.priority] < URGENCY[taking.priority]:
        yield f"{name} is preempted by a set of lower priority"
    if len(there) < len(recipes) or any(recipe.state == "reserved" for recipe in there):
        yield f"{name} is preempted, but one of its recipes has finished or is kept"
    if any(recipe.has_started for recipe in there) and not victim.preemptible:
        yield f"{name} is preempted after its start"
    if not queued.issuperset(recipe.recipe_id for recipe in there):
        yield f"{name} is preempted in part only"
    if _queue(victim) == _queue(taking):
        yield f"{name} is preempted by a set of its own queue"
    if _is_across_fence(view, _queue(taking), _queue(victim)):
        yield f"{name} is preempted across a fence"


def _faults_of_queues(
    view: SchedulerView, taking: RecipeSet, taken: Mapping[str, int], gained: int
) -> Iterator[str]:
    above = [*paths_upward(_queue(taking))]
    for path, count in taken.items():
        guaranteed, used = view.queue_tree.properties(path).get("guaranteed") or 0, _used(view, path)
        # A queue above both sets may have less than its guarantee before, and gets what the taking set gets.
        left, least = used - count, guaranteed
        if path in above:
            left, least = left + gained, min(used, guaranteed)
        if left < least:
            yield f"the preemption leaves {path} {left} of {guaranteed} guaranteed systems"


def _faults_of_jobs(view: SchedulerView, taking: RecipeSet, of_jobs: Mapping[int, int]) -> Iterator[str]:
    maximum = _section(view, taking).get("most_per_job", MAX_PER_JOB)
    for job_id, count in of_jobs.items():
        before = view.preemptions.get(job_id, 0)
        if before + count > maximum:
            yield f"job/{job_id} was preempted {before} times before, and {count} times now, of {maximum}"


def _is_across_fence(view: SchedulerView, one: str, other: str) -> bool:
    common = set(paths_upward(one)) & set(paths_upward(other))
    below = [path for path in (*paths_upward(one), *paths_upward(other)) if path not in common]
    return any(view.queue_tree.properties(path).get("fence") for path in below)


def _used(view: SchedulerView, path: str) -> int:
    """Return the number of systems that recipes of a queue and of those below it have."""
    hosts = (each for each in view.recipes.values() if each.system is not None and not each.is_guest)
    return sum(path in paths_upward(_queue(view.sets[host.set_id])) for host in hosts)


def _queue(recipe_set: RecipeSet) -> str:
    assert recipe_set.submitted is not None, f"recipe-set/{recipe_set.set_id} has facts"
    return recipe_set.submitted.queue


def _section(view: SchedulerView, recipe_set: RecipeSet) -> Mapping[str, Any]:
    section: Mapping[str, Any] = view.configuration_of(recipe_set.partition).get("preemption", {})
    return section
