"""The read models of one partition, as tables that a page of events is folded into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from psycopg import Cursor

from domain.events import Recorded
from domain.system.state import System
from postgres.binary_copy import Copied
from projections import rows
from projections.counts import RECIPE_COUNTS, SYSTEM_COUNTS, Counts
from projections.durations import BOUNDS
from projections.intervals import Facts, Intervals
from projections.members import Members
from projections.sql import SQL
from projections.touched import Touched

_BUCKETS = [(measure, bucket) for measure, bounds in BOUNDS.items() for bucket in range(len(bounds) + 1)]

# Keys of all tables, some 300 bytes each. Then everything is forgotten, and fetched when it is touched again.
MOST_KEPT = 500_000


class ReadModels:
    """All read models, page by page: `begin`, fold each event in order (`folding`), `flush`.

    `all_known`: the tables are empty, and so nothing has to be begun.
    """

    def __init__(self, *, all_known: bool = False) -> None:
        self._know(all_known=all_known)

    @property
    def size(self) -> int:
        """Of how many keys it is known what is true."""
        return sum(map(len, self._intervals))

    def _know(self, *, all_known: bool) -> None:
        self.job_documents = Facts("job_documents", rows.JobDocumentRow)
        self.recipe_details = Facts("recipe_details", rows.RecipeDetailsRow)
        self.task_results = Facts("task_results", rows.TaskResultRow)
        self.recipe_counts = Counts(RECIPE_COUNTS, rows.RecipeRow)
        self.system_counts = Counts(SYSTEM_COUNTS, rows.UsageRow)
        number, text, table = "integer", "text", partial(Intervals, all_known=all_known)
        self.jobs = table("jobs", {"job_id": number}, rows.JobRow)
        self.recipe_sets = table("recipe_sets", {"recipe_set_id": number}, rows.RecipeSetRow)
        self.recipes = table("recipes", {"recipe_id": number}, rows.RecipeRow, counts=self.recipe_counts)
        self.tasks = table("tasks", {"task_id": number}, rows.TaskRow)
        self.queue = table("queue", {"recipe_id": number}, rows.QueueRow)
        self.idle_pool = table("idle_pool", {"fqdn": text}, rows.IdleRow)
        self.system_usage = table("system_usage", {"fqdn": text}, rows.UsageRow, counts=self.system_counts)
        self.systems = table("systems", {"fqdn": text}, rows.SystemRow)
        self.documents = table("documents", {"kind": text, "name": text}, rows.DocumentRow)
        self.commands = table("commands", {"command_id": "bigint"}, rows.CommandRow)
        self.durations = table("durations", {"measure": text, "bucket": number}, rows.DurationRow)
        # What the rows of systems say, where an event of theirs was folded.
        self.known_systems: dict[str, System] = {}
        self.members = Members(all_known=all_known)

    def begin(self, cursor: Cursor[Any], page: Sequence[Recorded]) -> None:
        """Fetch what the page stands on and is not known, with one query per table."""
        if self.size > MOST_KEPT:
            self._know(all_known=False)
        touched = Touched(page)
        self._begin_recipes(cursor, touched)
        self._begin_systems(cursor, touched)
        self.commands.load(cursor, _keys(touched.numbers("command")))

    def _begin_recipes(self, cursor: Cursor[Any], touched: Touched) -> None:
        recipe_ids, sets = touched.numbers_stored("recipe"), touched.numbers_stored("recipe-set")
        members = self.members
        members.load(cursor, recipe_ids, sets)
        known = [recipe_id for recipe_id in recipe_ids if recipe_id in members.recipes]
        of_known = [members.recipes[recipe_id] for recipe_id in known]
        self.jobs.load(cursor, _keys((*(one.job_id for one in of_known), *touched.numbers_stored("job"))))
        self.recipe_sets.load(cursor, _keys((*(one.recipe_set_id for one in of_known), *sets)))
        self.recipes.load(cursor, _keys(recipe_ids))
        self.tasks.load(cursor, _keys(task for recipe_id in known for task in members.tasks[recipe_id]))
        # The priority of a set is that of all its recipes.
        self.queue.load(cursor, _keys((*recipe_ids, *members.of_sets(sets))))
        self.durations.load(cursor, _BUCKETS if touched.names("recipe") else ())

    def _begin_systems(self, cursor: Cursor[Any], touched: Touched) -> None:
        fqdns = touched.names("system")
        if touched.enabled_labs:
            found = cursor.execute(SQL["idle_of_labs"], (touched.enabled_labs,)).fetchall()
            fqdns += [fqdn for (fqdn,) in found]
        for table in (self.idle_pool, self.system_usage, self.systems):
            table.load(cursor, _keys(fqdns))
        systems = (self.systems.get((fqdn,)) for fqdn in fqdns)
        labs = (("lab-controller", row.lab_controller) for row in systems if row is not None)
        self.documents.load(cursor, (*touched.documents(), *labs))

    def flush(self, cursor: Cursor[Any]) -> None:
        for table in self._tables:
            table.flush(cursor)

    def take_ended(self) -> Iterator[Copied]:
        """All that will not change any more; the rest is kept back, until `take_rest`."""
        for table in self._tables:
            yield from table.take_ended()

    def take_rest(self) -> Iterator[Copied]:
        """All that is not written yet."""
        for table in self._tables:
            yield from table.take_rest()

    @property
    def _tables(self) -> tuple[Facts[Any] | Counts | Intervals[Any], ...]:
        facts = self.job_documents, self.recipe_details, self.task_results
        return *facts, self.recipe_counts, self.system_counts, *self._intervals

    @property
    def _intervals(self) -> tuple[Intervals[Any], ...]:
        return (
            *(self.jobs, self.recipe_sets, self.recipes, self.tasks, self.queue, self.durations),
            *(self.idle_pool, self.system_usage, self.systems, self.documents, self.commands),
        )


def _keys(names: Iterable[Any]) -> list[tuple[Any]]:
    return [(name,) for name in names]


def number_of(recorded: Recorded) -> int:
    """The number of a job, recipe set, recipe or command that an event is about."""
    return int(recorded.subject.partition("/")[2])
