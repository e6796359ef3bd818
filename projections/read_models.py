"""The read models of one partition, as tables that a page of events is folded into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from psycopg import Cursor

from domain.directory.events import PoolSystemAdded, PoolSystemRemoved
from domain.events import Recorded, split_subject
from projections.intervals import OPEN, Facts, Intervals
from projections.members import Members

# Aggregates with tables of their own; all others are documents.
_NO_DOCUMENT = frozenset(("job", "recipe-set", "recipe", "system", "command"))


class ReadModels:
    """All read models during one page: `begin`, fold each event in order (`folding`), `flush`."""

    def __init__(self) -> None:
        self.job_documents = Facts(
            "job_documents",
            ("job_id", "owner", "submitter", "group_name", "whiteboard", "document"),
            json=("document",),
        )
        self.recipe_details = Facts(
            "recipe_details",
            (
                *("recipe_id", "recipe_set_id", "job_id", "owner", "group_name", "whiteboard", "role"),
                *("distro_tree_id", "kernel_options", "ks_meta", "tasks"),
            ),
            json=("tasks",),
        )
        self.task_results = Facts(
            "task_results",
            ("task_id", "recipe_id", "result", "message", "score", "log_urls"),
            json=("log_urls",),
        )
        number, text = "integer", "text"
        self.jobs = Intervals("jobs", {"job_id": number}, ("state", "result"))
        self.recipe_sets = Intervals(
            "recipe_sets", {"recipe_set_id": number}, ("job_id", "priority", "state", "result")
        )
        self.recipes = Intervals(
            "recipes", {"recipe_id": number}, ("state", "system", "lab_controller", "reason")
        )
        self.tasks = Intervals("tasks", {"task_id": number}, ("recipe_id", "state", "result"))
        self.queue = Intervals(
            "queue", {"recipe_id": number}, ("state", "assigned", "priority", "submission", "lab_controller")
        )
        self.idle_pool = Intervals("idle_pool", {"fqdn": text}, ("lab_controller",))
        self.system_usage = Intervals("system_usage", {"fqdn": text}, ("condition", "usage", "recipe_id"))
        self.systems = Intervals(
            "systems",
            {"fqdn": text},
            ("version", "lab_controller", "owner", "condition", "pools", "inventory"),
            json=("pools", "inventory"),
        )
        self.documents = Intervals(
            "documents", {"kind": text, "name": text}, ("version", "document"), json=("document",)
        )
        self.commands = Intervals(
            "commands",
            {"command_id": "bigint"},
            ("lab_controller", "kind", "system", "recipe_id", "state", "reason"),
        )
        self.members = Members()

    @property
    def _facts(self) -> tuple[Facts, ...]:
        return self.job_documents, self.recipe_details, self.task_results

    def begin(self, cursor: Cursor[Any], page: Sequence[Recorded]) -> None:
        """Fetch what the page stands on, with one query per table."""
        names: dict[str, dict[str, None]] = defaultdict(dict)
        for recorded in page:
            kind, name = split_subject(recorded.subject)
            names[kind][name] = None
            if isinstance(recorded.event, PoolSystemAdded | PoolSystemRemoved):
                names["system"][recorded.event.system] = None
        for facts in self._facts:
            facts.start()
        recipe_ids = [int(name) for name in names["recipe"]]
        self.members.load(cursor, recipe_ids)
        systems = [(name,) for name in names["system"]]
        self.jobs.load(cursor, ((job_id,) for job_id in self.members.jobs()))
        self.recipe_sets.load(cursor, ((set_id,) for set_id in self.members.recipe_sets()))
        tasks = _open_tasks(cursor, recipe_ids)
        for task_id, recipe_id in tasks:
            self.members.tasks[recipe_id].append(task_id)
        self.tasks.load(cursor, [(task_id,) for task_id, _ in tasks])
        for table in (self.recipes, self.queue):
            table.load(cursor, [(recipe_id,) for recipe_id in recipe_ids])
        for table in (self.idle_pool, self.system_usage, self.systems):
            table.load(cursor, systems)
        self.documents.load(
            cursor,
            [(kind, name) for kind, found in names.items() if kind not in _NO_DOCUMENT for name in found],
        )
        self.commands.load(cursor, [(int(name),) for name in names["command"]])

    def flush(self, cursor: Cursor[Any]) -> None:
        for facts in self._facts:
            facts.flush(cursor)
        for table in (
            *(self.jobs, self.recipe_sets, self.recipes, self.tasks, self.queue, self.idle_pool),
            *(self.system_usage, self.systems, self.documents, self.commands),
        ):
            table.flush(cursor)


def _open_tasks(cursor: Cursor[Any], recipe_ids: list[int]) -> list[tuple[int, int]]:
    """(task, recipe) of the recipes that a page touches."""
    query = b"SELECT task_id, recipe_id FROM read.tasks WHERE recipe_id = ANY (%s) AND until_position = %s"
    return cursor.execute(query, (recipe_ids, OPEN)).fetchall()


def number_of(recorded: Recorded) -> int:
    """The number of a job, recipe or command that an event is about."""
    return int(split_subject(recorded.subject)[1])
