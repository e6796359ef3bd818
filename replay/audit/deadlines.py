"""Deadlines: the scheduler ends a recipe or gives up a set only after its deadline (design 4.5).

From policy version 5 on, a deadline counts from the database's time of the event that set it. In earlier
versions it counts from the time in the event.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from replay.audit.admission import final_state
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import EventRecord
from replay.audit.tables import FINISHED, SET_PLACED
from replay.audit.times import time_of
from replay.audit.world import FoldedWorld

BY_RECORDED_AT_FROM = 5
FIRST_TASK_SECONDS = 10_800
TASK_SECONDS = 1_800
OVERRIDE = "KILLTIMEOVERRIDE"
CAUSE = "timer/watchdog/"
TREE_CAUSE = "timer/distro-tree/"
TREE_AWAY = timedelta(seconds=600)
JOB_CAUSE = "timer/job/"
JOB_IDLE = timedelta(seconds=30)


class WatchdogDeadlines(NamedTuple):
    """The deadline of a recipe by both ways of counting, and the seconds that each of its tasks grants."""

    is_guest: bool
    tasks: Mapping[int, int]
    by_at: datetime | None = None
    by_recorded_at: datetime | None = None


class WatchdogsInTime(Invariant):
    """The scheduler ends a recipe by its watchdog only after the deadline of the recipe."""

    name = "watchdogs_in_time"
    topics = (
        *("recipe.new", "recipe.changed", "recipe.task-started", "recipe.watchdog-set", "recipe.extended"),
        *(f"recipe.{state}" for state in ("queued", "assigned", "scheduled", *SET_PLACED, *FINISHED)),
        "recipe.locked",
    )

    def __init__(self) -> None:
        self._watchdogs: dict[str, WatchdogDeadlines] = {}

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        if record.cause == CAUSE + record.name:
            yield from self._expired(record)
        if record.topic == "recipe.new":
            self._watchdogs[record.name] = _new_deadlines(record.data)
        elif record.topic == "recipe.changed":
            if record.name in self._watchdogs:
                tasks = _new_deadlines(record.data).tasks
                self._watchdogs[record.name] = self._watchdogs[record.name]._replace(tasks=tasks)
        elif record.event_name in FINISHED:
            self._watchdogs.pop(record.name, None)
        elif (before := self._watchdogs.get(record.name)) is not None:
            self._watchdogs[record.name] = _deadlines_after(before, record)

    def _expired(self, record: EventRecord) -> Violations:
        watchdog, now = self._watchdogs.get(record.name), time_of(record.now)
        if watchdog is None or now is None:
            return
        is_new = (record.policy_version or 0) >= BY_RECORDED_AT_FROM
        deadline = watchdog.by_recorded_at if is_new else watchdog.by_at
        if deadline is None or now < deadline:
            what = f"ended by its watchdog at {now}, but its deadline is {deadline}"
            yield self.violation([record.position], [record.subject], what)


class TreesAwayInTime(Invariant):
    """A set is given up for a distro tree only if that was in no lab for 600 s (policy version 5 on)."""

    name = "trees_away_in_time"
    topics = ("distro-tree.registered", "distro-tree.changed", "distro-tree.removed", "recipe.aborted")

    def __init__(self) -> None:
        # Tree -> the time from which it is in no lab; None while it is in a lab.
        self._since: dict[str, datetime | None] = {}

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        if record.kind != "distro-tree":
            if record.cause.startswith(TREE_CAUSE) and (record.policy_version or 0) >= BY_RECORDED_AT_FROM:
                yield from self._given_up(record, record.cause.removeprefix(TREE_CAUSE))
        elif any((record.data.get("urls") or {}).values()):
            self._since[record.name] = None
        elif self._since.get(record.name, record) is None:
            self._since[record.name] = time_of(record.recorded_at)

    def _given_up(self, record: EventRecord, tree: str) -> Violations:
        if tree not in self._since:
            return
        since, now = self._since[tree], time_of(record.now)
        if now is not None and (since is None or now < since + TREE_AWAY):
            what = f"given up at {now}, but distro tree {tree} is in no lab since {since}"
            yield self.violation([record.position], [record.subject], what)


class JobsClosedInTime(Invariant):
    """The scheduler closes an open job only 30 s after its last recipe ended, or after its submission."""

    name = "jobs_closed_in_time"
    topics = ("job.opened", "job.closed", *(f"recipe.{state}" for state in FINISHED))

    def __init__(self) -> None:
        # Open job -> the time of its submission, or of the last end of one of its recipes.
        self._since: dict[int, datetime | None] = {}

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        if record.kind == "recipe":
            recipe = world.recipes.get(int(record.name)) or world.finished.get(int(record.name))
            recipe_set = None if recipe is None else world.sets.get(recipe.set_id)
            if recipe_set is not None and recipe_set.job_id in self._since:
                self._since[recipe_set.job_id] = time_of(record.recorded_at)
        elif record.event_name == "opened":
            self._since[int(record.name)] = time_of(record.recorded_at)
        elif record.cause == JOB_CAUSE + record.name:
            yield from self._closed(world, record, self._since.pop(int(record.name), None))

    def _closed(self, world: FoldedWorld, record: EventRecord, since: datetime | None) -> Violations:
        now = time_of(record.now)
        sets = world.sets_of_job.get(int(record.name), ())
        if sets and final_state(world, sets) is None:
            yield self.violation([record.position], [record.subject], "closed before all its recipes ended")
        elif now is not None and (since is None or now < since + JOB_IDLE):
            what = f"closed at {now}, but without a running recipe only since {since}"
            yield self.violation([record.position], [record.subject], what)


def _new_deadlines(data: Mapping[str, Any]) -> WatchdogDeadlines:
    tasks = {task["task_id"]: _task_seconds(task.get("params") or {}) for task in data.get("tasks") or ()}
    return WatchdogDeadlines(data.get("host_recipe_id") is not None, tasks)


def _task_seconds(params: Mapping[str, str]) -> int:
    text = params.get(OVERRIDE, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else TASK_SECONDS


def _deadlines_after(watchdog: WatchdogDeadlines, record: EventRecord) -> WatchdogDeadlines:
    if record.event_name in ("queued", "assigned", "scheduled"):
        return watchdog._replace(by_at=None, by_recorded_at=None)
    if record.event_name == "extended":
        by_at, by_recorded_at = (
            each and each + timedelta(seconds=record.data["seconds"])
            for each in (watchdog.by_at, watchdog.by_recorded_at)
        )
        return watchdog._replace(by_at=by_at, by_recorded_at=by_recorded_at)
    seconds = _granted_seconds(watchdog, record)
    at, recorded_at = time_of(record.at), time_of(record.recorded_at)
    if seconds is None or at is None:
        return watchdog
    left = timedelta(seconds=seconds)
    return watchdog._replace(by_at=at + left, by_recorded_at=(recorded_at or at) + left)


def _granted_seconds(watchdog: WatchdogDeadlines, record: EventRecord) -> int | None:
    if record.event_name in ("reserved", "watchdog-set"):
        return int(record.data["seconds"])
    if record.event_name == "task-started":
        return watchdog.tasks.get(record.data["task_id"])
    begins = record.event_name == "installing" if watchdog.is_guest else record.gives_locks
    return FIRST_TASK_SECONDS if begins else None
