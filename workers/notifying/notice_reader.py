"""The notices that follow from the log, with what the notifier keeps in memory and loads from the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from domain.batches import batches
from domain.events import Event, Moment, Recorded, split_subject, subject
from domain.job.events import JobSubmitted
from domain.job.state import folded
from domain.notifications import kept, people, systems
from domain.notifications.jobs import ENDINGS, EndingJobs, JobProgress, job_notice, last_endings
from domain.notifications.kept import KeptSystems, kept_notice
from domain.notifications.notice import Notice
from domain.notifications.people import People
from domain.notifications.systems import SystemOwners
from domain.recipe.events import RecipeNew, RecipeQueued
from domain.recipe.state import Recipe, evolve
from domain.recipe_set.events import RecipeSetSubmitted
from store.event_log import EventLog
from store.notifications import ended_recipes, events_of_topics, kept_recipes, recipe_beginnings
from store.notifier_snapshots import NotifierSnapshots

logger = logging.getLogger(__name__)

LOADED_EVENTS = (*people.FOLDED_EVENTS, *systems.FOLDED_EVENTS, *kept.SYSTEM_EVENTS)
# The events after which a recipe no longer keeps its system.
KEPT_ENDS: tuple[type[Event], ...] = (*ENDINGS, RecipeQueued)
# Minimum number of events, and of seconds, between two snapshots.
SNAPSHOT_EVENTS = 10_000
SNAPSHOT_SECONDS = 30.0
EVENTS_PER_PAGE = 5_000
EMPTY: Mapping[str, Any] = {"position": 0, "people": [], "systems": {}, "kept": {}}
# Maximum number of recipes whose events are in memory at a time.
MAX_RECIPES = 500


class NoticeReader:
    """The notices of the log after a position, at which it loads people, owners and kept systems.

    They come from the newest snapshot and the events since, or without a snapshot from the whole log. Jobs
    are loaded when one of their recipes ends. A page of the log costs a fixed number of queries.
    """

    def __init__(self, log: EventLog, position: int, timers_until: datetime, near_seconds: float) -> None:
        self._log = log
        self._near_seconds = near_seconds
        self._jobs = EndingJobs()
        self._snapshots = NotifierSnapshots(log)
        snapshot = self._snapshots.load(position)
        try:
            self._restore(EMPTY if snapshot is None else snapshot)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            logger.warning("snapshot of the notifier is unreadable, reading the whole log: %r", error)
            snapshot = None
            self._restore(EMPTY)
        self._saved_at = time.monotonic()
        for recorded in self._whole_log(position) if snapshot is None else self._since_snapshot(position):
            self._apply(recorded)
        self._kept.skip_near(timers_until, near_seconds)

    def _restore(self, stored: Mapping[str, Any]) -> None:
        """Raises LookupError, TypeError, ValueError and AttributeError for a snapshot of another shape."""
        self.people = People.restored(stored["people"])
        self._systems = SystemOwners.restored(stored["systems"])
        self._kept = KeptSystems.restored(stored["kept"])
        self._saved_position: int = stored["position"]

    def _whole_log(self, position: int) -> Iterator[Recorded]:
        """Yield the events up to a position from which people, owners and kept systems follow."""
        yield from events_of_topics(self._log, LOADED_EVENTS, position)
        yield from self._log.history(
            kept_recipes(self._log, kept.RESERVED, KEPT_ENDS, position), position + 1
        )

    def _since_snapshot(self, position: int) -> Iterator[Recorded]:
        after = self._saved_position
        while after < position:
            events, after = self._log.select(after, position, EVENTS_PER_PAGE)
            yield from events

    def save_snapshot(self, position: int) -> None:
        """Save a snapshot as of `position`, up to which all events were read, unless the last one is recent.

        Call it after the position was stored: the next start can use no snapshot of a later one.
        """
        is_recent = time.monotonic() - self._saved_at < SNAPSHOT_SECONDS
        if is_recent or position - self._saved_position < SNAPSHOT_EVENTS:
            return
        people, systems = self.people.stored(), self._systems.stored()
        stored = {"position": position, "people": people, "systems": systems, "kept": self._kept.stored()}
        self._snapshots.save(position, stored)
        self._saved_position, self._saved_at = position, time.monotonic()

    def notices(self, page: Sequence[Recorded]) -> list[Notice]:
        """Return the notices of the next page of whole commits, and of jobs that end in it."""
        job_of = self._jobs_of_endings(page)
        found = []
        for recorded in page:
            if (notice := self._apply(recorded)) is not None:
                found.append(notice)
            self._jobs.apply(recorded)
        return found + self._ended_jobs(page, job_of)

    def near(self, now: datetime) -> list[Notice]:
        """Return the notices of kept systems whose end is near now."""
        near = list(self._kept.take_near(now, self._near_seconds))
        owners = self._owners_of_recipes([key for key, each in near if each.user is None])
        return [
            kept_notice(key, each, each.user or owners[key], self._near_seconds)
            for key, each in near
            if each.user is not None or key in owners
        ]

    def _apply(self, recorded: Recorded) -> Notice | None:
        self.people.apply(recorded)
        self._kept.apply(recorded)
        return self._systems.apply(recorded)

    def _owners_of_recipes(self, subjects: Sequence[str]) -> dict[str, str]:
        beginnings = recipe_beginnings(self._log, subjects) if subjects else []
        return {each.subject: each.event.owner for each in beginnings if isinstance(each.event, RecipeNew)}

    def _jobs_of_endings(self, page: Iterable[Recorded]) -> dict[int, int]:
        """Return the job of each recipe that ends on a page."""
        ended = [int(split_subject(each.subject)[1]) for each in page if isinstance(each.event, ENDINGS)]
        job_of = {each: self._jobs.job_of[each] for each in ended if each in self._jobs.job_of}
        unknown = [subject("recipe", each) for each in ended if each not in job_of]
        for each in recipe_beginnings(self._log, unknown) if unknown else []:
            if isinstance(each.event, RecipeNew):
                job_of[int(split_subject(each.subject)[1])] = each.event.job_id
        return job_of

    def _ended_jobs(self, page: Sequence[Recorded], job_of: dict[int, int]) -> list[Notice]:
        last = last_endings(page, job_of)
        for progress in self._load_jobs(
            [each for each in last if not self._jobs.has(each)], page[-1].position
        ):
            self._jobs.begin(progress)
        ended = self._jobs.take_ended(last)
        return [job_notice(each, self._recipes(each.recipe_ids), last[each.job.job_id]) for each in ended]

    def _load_jobs(self, job_ids: Sequence[int], upto: int) -> list[JobProgress]:
        """Return jobs as they are at a position: three queries."""
        if not job_ids:
            return []
        histories = _by_subject(self._log.history([subject("job", each) for each in job_ids], upto + 1))
        jobs = {each: folded(each, histories.get(subject("job", each), ())) for each in job_ids}
        set_ids = [set_id for job in jobs.values() if job is not None for set_id in job.recipe_set_ids]
        recipe_ids: dict[int, tuple[int, ...]] = {}
        for recorded in self._log.history([subject("recipe-set", each) for each in set_ids], upto + 1):
            if isinstance(recorded.event, RecipeSetSubmitted):
                job_id = recorded.event.job_id
                recipe_ids[job_id] = (*recipe_ids.get(job_id, ()), *recorded.event.recipe_ids)
        subjects = [subject("recipe", each) for ids in recipe_ids.values() for each in ids]
        ended = ended_recipes(self._log, subjects, ENDINGS, upto)
        loaded = []
        for job_id, job in jobs.items():
            if job is not None:
                ids = recipe_ids.get(job_id, ())
                unfinished = {each for each in ids if subject("recipe", each) not in ended}
                addresses = _addresses(histories[job.subject])
                loaded.append(JobProgress(job, addresses, ids, unfinished, job.is_open))
        return loaded

    def _recipes(self, recipe_ids: Sequence[int]) -> list[Recipe]:
        """Return finished recipes, which never change again."""
        found = []
        for part in batches(recipe_ids, MAX_RECIPES):
            histories = self._log.load({subject("recipe", each): 0 for each in part})
            found += [_recipe(each, histories[subject("recipe", each)]) for each in part]
        return found


def _recipe(recipe_id: int, history: Iterable[Recorded]) -> Recipe:
    recipe: Recipe | None = None
    for recorded in history:
        recipe = evolve(recipe, recipe_id, recorded.event, Moment.of(recorded))
    assert recipe is not None, f"recipe {recipe_id} has events"
    return recipe


def _addresses(history: Iterable[Recorded]) -> tuple[str, ...]:
    return next(
        tuple(each.event.document.get("notify", ()))
        for each in history
        if isinstance(each.event, JobSubmitted)
    )


def _by_subject(history: Iterable[Recorded]) -> dict[str, list[Recorded]]:
    found: dict[str, list[Recorded]] = {}
    for recorded in history:
        found.setdefault(recorded.subject, []).append(recorded)
    return found
