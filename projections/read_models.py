"""The read models: tables into which pages of events are folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from psycopg import Cursor

from domain.directory import events as directory_events
from domain.events import Event, Recorded, split_subject
from domain.job.events import JobClosed, JobExtended
from domain.recipe.events import RecipeClaimed, RecipeClaimEnded, RecipeQueued
from domain.recipe_set.events import RecipeSetWaived, RecipeSetWaiverEnded
from domain.system.events import SystemLabControllerChanged, SystemNoteRemoved, SystemRegistered
from domain.system.state import System
from postgres.binary_copy import CopyData
from projections import rows
from projections.actor_parts import ActorParts
from projections.counts import LOCK_COUNTS, RECIPE_COUNTS, SYSTEM_COUNTS, OpenRowCounts
from projections.durations import BOUNDS, LABELS, NO_LABEL
from projections.intervals import FactTable, Intervals
from projections.job_terms import JobTerms
from projections.recipe_cache import RecipeCache
from projections.result_deletions import ResultDeletions
from projections.sql import SQL
from projections.waiting_counts import WaitingCounts

# Kinds of subjects with tables of their own; all others are documents.
_KINDS_WITH_TABLES = frozenset(("job", "recipe-set", "recipe", "system", "command"))

SERVING_CHANGES = (
    directory_events.LabControllerRegistered,
    directory_events.LabControllerEnabled,
    directory_events.LabControllerDisabled,
    directory_events.LabControllerSilent,
    directory_events.LabControllerHeard,
    directory_events.LabControllerPartitionChanged,
)
"""Events that may add all idle systems of a lab to the idle pool, or remove them."""


class PageSubjects:
    """The subjects of a page, by kind, with further subjects that its events mention."""

    def __init__(self, page: Sequence[Recorded]) -> None:
        self._names: dict[str, dict[str, None]] = defaultdict(dict)
        self._new: set[tuple[str, str]] = set()
        self._serving_labs: dict[str, None] = {}
        self.preempted_recipes: list[int] = []
        # Recipes whose claims begin or end.
        self.claiming_recipes: list[int] = []
        self.removed_notes: list[int] = []
        # Tasks whose failures are waived, or not any more.
        self.waived_tasks: list[int] = []
        # Jobs that were extended or closed.
        self.open_jobs: list[int] = []
        for recorded in page:
            kind, name = split_subject(recorded.subject)
            self._names[kind][name] = None
            if recorded.version == 1:
                self._new.add((kind, name))
            self._add_mentioned(recorded.event)
            if isinstance(recorded.event, SERVING_CHANGES):
                self._serving_labs[name] = None
            if isinstance(recorded.event, JobExtended | JobClosed):
                self.open_jobs.append(int(name))
            if isinstance(recorded.event, RecipeQueued) and recorded.event.preempted_by is not None:
                self.preempted_recipes.append(int(name))
            if isinstance(recorded.event, RecipeClaimed | RecipeClaimEnded):
                self.claiming_recipes.append(int(name))
            if isinstance(recorded.event, SystemNoteRemoved):
                self.removed_notes.append(recorded.event.note)
            if (
                isinstance(recorded.event, RecipeSetWaived | RecipeSetWaiverEnded)
                and recorded.event.task_id is not None
            ):
                self.waived_tasks.append(recorded.event.task_id)

    def _add_mentioned(self, event: Event) -> None:
        if isinstance(event, directory_events.PoolSystemAdded | directory_events.PoolSystemRemoved):
            self._names["system"][event.system] = None
        if isinstance(event, SystemRegistered | SystemLabControllerChanged):
            self._names["lab-controller"][event.lab_controller] = None

    def names(self, kind: str) -> list[str]:
        return list(self._names.get(kind, ()))

    def numbers(self, kind: str) -> list[int]:
        return [int(name) for name in self.names(kind)]

    def numbers_stored(self, kind: str) -> list[int]:
        return [int(name) for name in self.names(kind) if (kind, name) not in self._new]

    def documents(self) -> Iterator[tuple[str, str]]:
        for kind, names in self._names.items():
            if kind not in _KINDS_WITH_TABLES:
                yield from ((kind, name) for name in names)

    @property
    def serving_changed_labs(self) -> list[str]:
        """Return the labs whose idle systems may join or leave the idle pool."""
        return list(self._serving_labs)


_BUCKETS = [
    (measure, label, bucket)
    for measure, bounds in BOUNDS.items()
    for label in LABELS.get(measure, (NO_LABEL,))
    for bucket in range(len(bounds) + 1)
]

# Maximum number of keys in the caches of all tables, of some 300 bytes each. A larger cache is dropped, and
# its rows are fetched again. A waiting recipe has five keys; a queue of a hundred thousand must not reach it.
MAX_CACHED_KEYS = 750_000


class ReadModels:
    """All read models: `begin` a page, fold its events (`folding`), `flush`. Empty tables are not fetched."""

    def __init__(self, *, tables_are_empty: bool = False) -> None:
        self.job_terms = JobTerms(tables_are_empty=tables_are_empty)
        self._reset(tables_are_empty=tables_are_empty)

    @property
    def size(self) -> int:
        return sum(map(len, self._intervals))

    def _reset(self, *, tables_are_empty: bool) -> None:
        self.job_documents = FactTable("job_documents", rows.JobDocumentRow)
        self.recipe_details = FactTable("recipe_details", rows.RecipeDetailsRow)
        self.task_results = FactTable("task_results", rows.TaskResultRow)
        self.result_deletions = ResultDeletions()
        self.added_sets = FactTable("added_sets", rows.AddedSetsRow)
        self.recipe_changes = FactTable("recipe_changes", rows.RecipeChangeRow)
        self.changed_sets = FactTable("changed_sets", rows.ChangedSetRow)
        self.job_systems = FactTable("job_systems", rows.JobSystemRow)
        self.actor_parts = ActorParts()
        number, text, table = "integer", "text", partial(Intervals, tables_are_empty=tables_are_empty)
        of_lock = {"recipe_id": number, "level": text, "name": text}
        self.recipe_counts = OpenRowCounts(RECIPE_COUNTS, {"recipe_id": number}, rows.RecipeRow)
        self.system_counts = OpenRowCounts(SYSTEM_COUNTS, {"fqdn": text}, rows.UsageRow)
        self.lock_counts = OpenRowCounts(LOCK_COUNTS, of_lock, rows.LockRow)
        self.jobs = table("jobs", {"job_id": number}, rows.JobRow)
        self.recipe_sets = table("recipe_sets", {"recipe_set_id": number}, rows.RecipeSetRow)
        self.recipes = table("recipes", {"recipe_id": number}, rows.RecipeRow, counts=self.recipe_counts)
        self.locks = table("locks", of_lock, rows.LockRow, counts=self.lock_counts)
        self.claims = table("claims", {"recipe_id": number}, rows.ClaimRow)
        self.tasks = table("tasks", {"task_id": number}, rows.TaskRow)
        self.queue = table("queue", {"recipe_id": number}, rows.QueueRow)
        self.waiting_counts = WaitingCounts(tables_are_empty=tables_are_empty)
        self.waits = table("waits", {"recipe_id": number}, rows.WaitRow, counts=self.waiting_counts)
        self.idle_pool = table("idle_pool", {"fqdn": text}, rows.IdleRow)
        self.system_usage = table("system_usage", {"fqdn": text}, rows.UsageRow, counts=self.system_counts)
        self.system_persons = table("system_persons", {"fqdn": text}, rows.PersonRow)
        self.systems = table("systems", {"fqdn": text}, rows.SystemRow)
        self.notes = table("system_notes", {"note_id": "bigint"}, rows.NoteRow)
        self.documents = table("documents", {"kind": text, "name": text}, rows.DocumentRow)
        self.commands = table("commands", {"command_id": "bigint"}, rows.CommandRow)
        self.durations = table(
            "durations", {"measure": text, "label": text, "bucket": number}, rows.DurationRow
        )
        # The states of the systems whose events were folded by this process.
        self.folded_systems: dict[str, System] = {}
        self.recipe_cache = RecipeCache(tables_are_empty=tables_are_empty)

    def begin(self, cursor: Cursor[Any], page: Sequence[Recorded]) -> None:
        """Fetch the uncached rows that the fold of the page needs, with about one query per table."""
        if self.size > MAX_CACHED_KEYS:
            self._reset(tables_are_empty=False)
        subjects = PageSubjects(page)
        if subjects.names("job") or subjects.names("recipe"):
            self.job_terms.load(cursor)
        self._begin_recipes(cursor, subjects)
        self._begin_systems(cursor, subjects)
        self.notes.load(cursor, _keys(subjects.removed_notes))
        self.commands.load(cursor, _keys(subjects.numbers("command")))

    def _begin_recipes(self, cursor: Cursor[Any], subjects: PageSubjects) -> None:
        recipe_ids, sets = subjects.numbers_stored("recipe"), subjects.numbers_stored("recipe-set")
        cache = self.recipe_cache
        cache.load(cursor, recipe_ids, sets, subjects.open_jobs)
        existing = [recipe_id for recipe_id in recipe_ids if recipe_id in cache.recipes]
        recipes = [cache.recipes[recipe_id] for recipe_id in existing]
        self.jobs.load(
            cursor, _keys((*(recipe.job_id for recipe in recipes), *subjects.numbers_stored("job")))
        )
        # The result of a job falls back when a set of it begins again: it is the worst of all its sets. If
        # the recipe is new in the page, the job is new, too, or the page extends it.
        preempted = (cache.recipes.get(recipe_id) for recipe_id in subjects.preempted_recipes)
        of_recipes = (recipe.job_id for recipe in preempted if recipe is not None)
        jobs = dict.fromkeys((*of_recipes, *subjects.open_jobs)) if subjects.preempted_recipes else {}
        siblings = (set_id for job_id in jobs for set_id in cache.sets_of_job[job_id])
        set_ids = (*(recipe.recipe_set_id for recipe in recipes), *sets, *siblings)
        self.recipe_sets.load(cursor, _keys(set_ids))
        self.recipes.load(cursor, _keys(recipe_ids))
        self.locks.load(cursor, (key for recipe_id in existing for key in cache.locks.get(recipe_id, ())))
        task_ids = (task for recipe_id in existing for task in cache.tasks[recipe_id])
        self.tasks.load(cursor, _keys((*task_ids, *subjects.waived_tasks)))
        self.claims.load(cursor, _keys(subjects.claiming_recipes))
        # A change of a set's priority changes the rows of all its recipes.
        waiting = _keys((*recipe_ids, *cache.of_sets(sets)))
        self.queue.load(cursor, waiting)
        self.waits.load(cursor, waiting)
        if subjects.names("recipe") or waiting:
            self.waiting_counts.load(cursor)
        self.durations.load(cursor, _BUCKETS if subjects.names("recipe") else ())

    def _begin_systems(self, cursor: Cursor[Any], subjects: PageSubjects) -> None:
        fqdns = subjects.names("system")
        if subjects.serving_changed_labs:
            idle = cursor.execute(SQL["idle_of_labs"], (subjects.serving_changed_labs,)).fetchall()
            fqdns += [fqdn for (fqdn,) in idle]
        for table in (self.idle_pool, self.system_usage, self.system_persons, self.systems):
            table.load(cursor, _keys(fqdns))
        systems = (self.systems.get((fqdn,)) for fqdn in fqdns)
        labs = (("lab-controller", row.lab_controller) for row in systems if row is not None)
        self.documents.load(cursor, (*subjects.documents(), *labs))

    def flush(self, cursor: Cursor[Any]) -> None:
        for table in self._tables:
            table.flush(cursor)

    def take_closed_rows(self) -> Iterator[CopyData]:
        """Yield the rows that will not change any more. `take_remaining_rows` yields the others."""
        for table in self._tables:
            yield from table.take_closed_rows()

    def take_remaining_rows(self) -> Iterator[CopyData]:
        """Yield all rows that are not stored."""
        for table in self._tables:
            yield from table.take_remaining_rows()

    @property
    def _tables(self) -> tuple[_Table, ...]:
        facts = self.actor_parts, self.job_documents, self.recipe_details, self.task_results
        changes = self.added_sets, self.recipe_changes, self.changed_sets
        of_search = self.job_systems, self.job_terms
        return (
            *facts,
            self.result_deletions,
            *changes,
            *of_search,
            self.recipe_counts,
            self.system_counts,
            self.lock_counts,
            *self._intervals,
        )

    @property
    def _intervals(self) -> tuple[Intervals[Any], ...]:
        return (
            *(self.jobs, self.recipe_sets, self.recipes, self.locks),
            *(self.claims, self.tasks, self.queue, self.waits, self.durations),
            *(self.idle_pool, self.system_usage, self.system_persons, self.systems),
            *(self.notes, self.documents, self.commands),
        )


_Table = ActorParts | JobTerms | ResultDeletions | FactTable[Any] | OpenRowCounts | Intervals[Any]


def _keys(names: Iterable[Any]) -> list[tuple[Any]]:
    return [(name,) for name in names]


def number_of(recorded: Recorded) -> int:
    """Return the number of the event's job, recipe set, recipe or command."""
    return int(recorded.subject.partition("/")[2])
