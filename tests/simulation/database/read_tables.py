"""The schema `read`: tables of intervals and facts, and the statements of `projections/` for them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import psycopg

from domain.recipe.lifecycle import FINISHED
from projections.intervals import OPEN_UNTIL, Intervals
from projections.read_models import ReadModels
from tests.simulation.machine.strands import Strand, current

if TYPE_CHECKING:
    from store.log_tables import Rows
    from tests.simulation.database.server import Server, Statement
    from tests.simulation.database.session import Session

Row = dict[str, Any]
LOAD = re.compile(
    r"SELECT found\.\* FROM unnest\(.+\) AS wanted \((?P<keys>.+)\)"
    r" CROSS JOIN LATERAL \(SELECT (?P<shown>.+) FROM (?P<table>\w+) t "
)
CLOSE = re.compile(
    r"UPDATE (?P<table>\w+) t SET until_position = wanted.position, until = wanted.moment"
    r" FROM .+ AS wanted \((?P<keys>.+), position, moment\)"
)
COUNT = re.compile(r"INSERT INTO (?P<table>\w+) AS t \((?P<columns>.+)\) SELECT .+ ON CONFLICT")
COPY = re.compile(r"COPY (?P<table>\w+) \((?P<columns>.+)\) FROM STDIN")


BY_POSITION = ("task_results", "added_sets", "recipe_changes", "changed_sets", "job_systems")


class ReadTables:
    def __init__(self, server: Server) -> None:
        self.position, self.whole_from = 0, 0
        self.recorded_at: datetime | None = None
        # All rows in the order of insertion, and the open rows by key.
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self.open: dict[str, dict[tuple[Any, ...], Row]] = defaultdict(dict)
        self._server = server
        # Indexes.
        self._primary: set[tuple[Any, ...]] = set()
        self.details: dict[int, Row] = {}
        self._recipes_of: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._history: dict[int, list[Row]] = defaultdict(list)
        # The last change of each changed recipe.
        self._changes: dict[int, Row] = {}
        self._tasks_of: dict[int, dict[int, None]] = defaultdict(dict)
        self._last_waits: dict[int, Row] = {}
        self._keys: dict[str, tuple[str, ...]] = {}
        self._statements: dict[bytes, Statement | None] = {}
        # The session that has moved the position locks its row until the commit.
        self._mover: Session | None = None
        self._waiting: list[Strand] = []
        for table in vars(ReadModels()).values():
            if isinstance(table, Intervals):
                # The statement that loads the table names its keys.
                self.statement(table._load_query)

    # The position

    def begin(self) -> Rows:
        if self.position == 0:
            self.whole_from = self._server.log.end
        return []

    def stored_progress(self) -> Rows:
        return [(self.position, self.recorded_at)]

    def move(self, session: Session, params: Any) -> Rows:
        """Return a row if the position was changed; a second projector waits for the commit of the first."""
        position, recorded_at, before = params
        while self._mover not in (None, session):
            self._waiting.append(current())
            current().wait(None)
            if session.dead:
                session.lost = True
                raise psycopg.OperationalError("terminating connection")
        if self.position != before:
            return []
        if session.in_transaction:
            self._mover = session
            session.unwritten.append(lambda: self._moved(position, recorded_at))
        else:
            self._moved(position, recorded_at)
        return [(1,)]

    def _moved(self, position: int, recorded_at: datetime) -> None:
        self.position, self.recorded_at = position, recorded_at

    def release(self, session: Session) -> None:
        if self._mover is session:
            self._mover = None
            waiting, self._waiting = self._waiting, []
            for strand in waiting:
                strand.wake()

    def notify(self, session: Session, params: Any) -> Rows:
        session.unwritten.append(lambda: self._server.notify(params[0]))
        return []

    # Statements of `Intervals` and `FactTable`

    def statement(self, query: bytes) -> Statement | None:
        if query not in self._statements:
            self._statements[query] = self._made(query.decode())
        return self._statements[query]

    def _made(self, query: str) -> Statement | None:
        if found := LOAD.match(query):
            keys = tuple(found["keys"].split(", "))
            shown = tuple(name.removeprefix("t.") for name in found["shown"].split(", "))
            self._keys[found["table"]] = keys
            return lambda session, params: self._load(session, found["table"], shown, params)
        if found := CLOSE.match(query):
            return lambda session, params: self._close(session, found["table"], params)
        if found := COUNT.match(query):
            columns = tuple(found["columns"].split(", "))
            return lambda session, params: self._count(session, found["table"], columns, params)
        if found := COPY.match(query):
            columns = tuple(found["columns"].split(", "))
            return lambda session, params: self._copy(session, found["table"], columns, params)
        return None

    def _load(self, session: Session, table: str, shown: Sequence[str], params: Any) -> Rows:
        open_ = self.open[table]
        found = (open_.get(key) for key in zip(*params, strict=True))
        return [tuple(row[name] for name in shown) for row in found if row is not None]

    def _close(self, session: Session, table: str, params: Any) -> Rows:
        session.unwritten.append(lambda: self._closed(table, params))
        return []

    def _closed(self, table: str, params: Any) -> None:
        for *key, position, moment in zip(*params, strict=True):
            row = self.open[table].pop(tuple(key))
            row["until_position"], row["until"] = position, moment

    def _count(self, session: Session, table: str, columns: Sequence[str], params: Any) -> Rows:
        session.unwritten.append(lambda: self._counted(table, columns, params))
        return []

    def _counted(self, table: str, columns: Sequence[str], params: Any) -> None:
        """Add to the last column of the row with the same other columns."""
        for *key, amount in zip(*params, strict=True):
            same = dict(zip(columns, key, strict=False))
            row = next((row for row in self.rows[table] if same.items() <= row.items()), None)
            if row is None:
                row = {**same, columns[-1]: 0}
                self.rows[table].append(row)
            row[columns[-1]] += amount

    def _copy(self, session: Session, table: str, columns: Sequence[str], params: Any) -> Rows:
        session.unwritten.append(lambda: self._copied(table, columns, params))
        return []

    def _copied(self, table: str, columns: Sequence[str], params: Any) -> None:
        for values in params:
            row = dict(zip(columns, values, strict=True))
            self._require_new(table, row)
            self.rows[table].append(row)
            self._index(table, row)
            if row.get("until_position") == OPEN_UNTIL:
                key = tuple(row[name] for name in self._keys[table])
                if key in self.open[table]:
                    raise psycopg.errors.UniqueViolation(f"{table} {key} is open already")
                self.open[table][key] = row

    def _require_new(self, table: str, row: Row) -> None:
        """Check the primary key: the first column for facts, the position for those that happen again."""
        names = self._keys.get(table) or (() if table in BY_POSITION else (next(iter(row)),))
        number = row["since_position"] if table in self._keys or not names else 0
        key = (table, number, *(row[name] for name in names))
        if key in self._primary:
            raise psycopg.errors.UniqueViolation(f"{table} has {key} already")
        self._primary.add(key)

    def _index(self, table: str, row: Row) -> None:
        if table == "recipe_details":
            self.details[row["recipe_id"]] = row
            for column in ("recipe_set_id", "job_id", "host_recipe_id"):
                self._recipes_of[column, row[column]].append(row["recipe_id"])
        elif table == "recipe_changes":
            self._changes[row["recipe_id"]] = row
        elif table == "recipes":
            self._history[row["recipe_id"]].append(row)
        elif table == "waits":
            self._last_waits[row["recipe_id"]] = row
        elif table == "tasks":
            self._tasks_of[row["recipe_id"]][row["task_id"]] = None

    # Queries of `folding.sql`

    def members(self, params: Mapping[str, Any]) -> Rows:
        wanted = set(params["recipes"])
        wanted.update(each for number in params["sets"] for each in self._recipes_of["recipe_set_id", number])
        hosts = [self.details[each]["host_recipe_id"] for each in params["recipes"] if each in self.details]
        wanted.update(host for host in hosts if host is not None)
        return [self._member(self.details[number]) for number in sorted(wanted) if number in self.details]

    def _member(self, detail: Row) -> tuple[Any, ...]:
        recipe_id = detail["recipe_id"]
        places = ("job_id", "recipe_set_id", "since_position", "distro_tree_id", "host_recipe_id")
        named = (*places, "locks", "partition", "group_name")
        history = self._history[recipe_id]
        before = ["", *(row["state"] for row in history)]
        waiting = [row for row, state in zip(history, before, strict=False) if state != row["state"]]
        began = (
            _last(row["since"] for row in waiting if row["state"] == "waiting"),
            _last(row["since"] for row in history if row["state"] == "waiting" and not row["awaits_locks"]),
            _last(row["since"] for row in history if row["state"] == "running"),
        )
        state = self.open["recipes"][(recipe_id,)]["state"]
        tasks = sorted(each for each in self._tasks_of[recipe_id] if (each,) in self.open["tasks"])
        present = self.present(recipe_id)
        locks = [[level, name] for number, level, name in self.open["locks"] if number == recipe_id] or None
        wait = self._last_waits.get(recipe_id, {})
        properties = (*(present[name] for name in named), wait.get("requirement"), wait.get("arch"))
        return (recipe_id, state, tasks, locks, detail["since"], *began, *properties)

    def waiting_counts(self) -> Rows:
        rows = self.open["waits"].values()
        counts = Counter((row["partition"], row["arch"], row["priority"]) for row in rows)
        return [(*kind, count) for kind, count in counts.items()]

    def _last_change(self, recipe_id: int) -> Row:
        """Return the columns of the last change of a recipe that replace those of its details."""
        change = self._changes.get(recipe_id, {})
        return {name: change[name] for name in ("distro_tree_id", "distro", "tasks", "locks") if change}

    def states_of_jobs(self, job_ids: Sequence[int]) -> Rows:
        counts = Counter[tuple[Any, ...]]()
        preempted = Counter[tuple[Any, ...]]()
        had_system: dict[tuple[Any, ...], bool] = defaultdict(bool)
        for job_id in job_ids:
            for recipe_id in self._recipes_of["job_id", job_id]:
                row = self.open["recipes"][(recipe_id,)]
                key = job_id, self.details[recipe_id]["recipe_set_id"], row["state"]
                counts[key] += 1
                preempted[key] += row["preempted"]
                had_system[key] |= any(then["system"] is not None for then in self._history[recipe_id])
        return [(*key, count, preempted[key], had_system[key]) for key, count in counts.items()]

    def present(self, recipe_id: int | None) -> Row:
        """Return the details of a recipe with its last change, empty for an unknown one."""
        if recipe_id is None or recipe_id not in self.details:
            return {}
        return {**self.details[recipe_id], **self._last_change(recipe_id)}

    def guests_at(self, host_recipe_id: int, position: int) -> list[Row]:
        """Return the guests that were unfinished at a position."""
        guests = sorted(self._recipes_of["host_recipe_id", host_recipe_id])
        return [self.present(each) for each in guests if self._was_open(each, position)]

    def _was_open(self, recipe_id: int, position: int) -> bool:
        then = (row for row in self._history[recipe_id] if row["since_position"] <= position)
        return any(row["until_position"] > position and row["state"] not in FINISHED for row in then)

    def idle_of_labs(self, labs: Sequence[str]) -> Rows:
        usage = self.open["system_usage"]
        return [
            key
            for key, row in self.open["systems"].items()
            if row["lab_controller"] in labs and usage[key]["usage"] == "idle"
        ]

    def dump(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each table with its sorted rows."""
        for table in sorted(self.rows):
            yield table, sorted(repr(sorted(row.items())) for row in self.rows[table])


def _last(moments: Iterable[datetime]) -> datetime | None:
    return max(moments, default=None)
