"""The simulated database keeps the promises of the real one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import pytest
from psycopg.rows import dict_row

from postgres.errors import DatabaseAway
from projections.projector import Projector
from store.datastore import connect
from store.event_log import EventLog
from store.lease import Lease
from store.requests import Committed, Fence, Fenced
from tests.harness.appends import append_to
from tests.harness.databases import TestDatabase
from tests.simulation.checks.final_state import pages
from tests.simulation.database.mapping import SharedMapper
from tests.simulation.database.server import SILENCE_SECONDS, Server, Weather
from tests.simulation.database.session import Datastore, Session
from tests.simulation.machine.chance import Chance
from tests.simulation.machine.loop import SimulatedLoop
from tests.simulation.machine.stand_ins import stand_ins
from tests.simulation.machine.strands import RUNNING, Process, current, in_strand
from tests.simulation.seed import Seed as SimulatedSeed
from tests.simulation.seed import SeedOptions, run
from workers.doctor import check_read_models

Result = TypeVar("Result")


class BareDatabase:
    def __init__(self) -> None:
        self.loop = SimulatedLoop()
        self.loop.in_strand = in_strand
        self.server = Server(self.loop, Chance(1).stream("database"))
        self.failures: list[str] = []

    def process(self, name: str) -> Process:
        return Process(name, self.loop, lambda _, trace: self.failures.append(trace))

    def run(self, work: Callable[[], Result], process: Process | None = None) -> Result:
        """Run work in a strand of a process, and raise its errors."""
        RUNNING.set(process or self.process("test"))

        async def ran() -> Result:
            result: Result = await in_strand(work)
            return result

        return self.loop.run_until_complete(ran())


@contextmanager
def bare_database() -> Iterator[BareDatabase]:
    made = BareDatabase()
    connect, datastore = (lambda _: Session(made.server)), partial(Datastore, made.server)
    try:
        with stand_ins(made.loop, connect, datastore, SharedMapper):
            yield made
    finally:
        made.loop.close()


# An open end is the text `infinity`, which psycopg does not convert. PostgreSQL generates `has_conditions`.
UNREAD = frozenset({"until", "has_conditions"})


@pytest.mark.parametrize(
    "number", [pytest.param(1, id="one partition"), pytest.param(8, id="two partitions")]
)
def test_read_tables__a_whole_seed__the_same_rows_as_postgresql(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    seed = run(SeedOptions(number, 4.0))
    # The sums of hours have positions of the log, which is not in this database.
    monkeypatch.setattr(Projector, "_close_hours", lambda *_: None)
    with connect(database.service_url) as connection:
        projector = Projector(connection)
        for page in pages(seed.commit_checks.log):
            projector.project(page)
        tables = {table: _real(connection, table) for table in seed.server.read.rows}

    assert len(seed.commit_checks.log) > 300
    for table, rows in tables.items():
        assert rows == _simulated(seed, table), table
    assert not check_read_models(database.service_url)["violations"]


def _real(connection: Any, table: str) -> list[str]:
    cursor = connection.cursor(row_factory=dict_row)
    columns = [each.name for each in cursor.execute(f"SELECT * FROM {table} LIMIT 0".encode()).description]
    shown = ", ".join(name for name in columns if name not in UNREAD)
    return sorted(map(_written, cursor.execute(f"SELECT {shown} FROM {table}".encode())))


def _simulated(seed: SimulatedSeed, table: str) -> list[str]:
    return sorted(map(_written, seed.server.read.rows[table]))


def _written(row: dict[str, Any]) -> str:
    return repr(sorted((name, _alike(value)) for name, value in row.items() if name not in UNREAD))


def _alike(value: Any) -> Any:
    """Return a row as JSON text; PostgreSQL orders the keys of a document differently."""
    if isinstance(value, dict):
        return sorted((key, _alike(each)) for key, each in value.items())
    return [_alike(each) for each in value] if isinstance(value, list | tuple) else value


URL = "simulated"
NAME = "scheduler/test"


@pytest.fixture
def simulated() -> Iterator[BareDatabase]:
    with bare_database() as made:
        yield made


# Leases, as tested in tests/store/test_fencing.py and tests/workers/test_lease.py for the real ones.


def test_lease__held_by_another__not_given_until_its_holder_is_gone(simulated: BareDatabase) -> None:
    holder, waiting = simulated.process("holder"), Lease(URL, NAME, "waiting")
    first = Lease(URL, NAME, "holder")
    assert simulated.run(first.try_take, holder) == Fence(NAME, 1)
    assert simulated.run(waiting.try_take) is None

    holder.kill()

    assert simulated.run(waiting.try_take) == Fence(NAME, 2)


def test_lease__not_renewed_in_time__given_to_the_next_and_the_holder_fenced(simulated: BareDatabase) -> None:
    hung, following = Lease(URL, NAME, "hung", 10.0), Lease(URL, NAME, "following", 10.0)
    old = simulated.run(hung.try_take)
    simulated.run(partial(_wait, 9.0))
    assert simulated.run(following.try_take) is None
    simulated.run(partial(_wait, 2.0))

    assert simulated.run(following.try_take) == Fence(NAME, 2)
    assert not simulated.run(hung.is_held)
    assert isinstance(simulated.run(partial(_append, old)), Fenced)


def test_lease__renewed__stays(simulated: BareDatabase) -> None:
    holder, following = Lease(URL, NAME, "holder", 10.0), Lease(URL, NAME, "following", 10.0)
    fence = simulated.run(holder.try_take)
    simulated.run(partial(_wait, 9.0))
    simulated.run(holder.renew)
    simulated.run(partial(_wait, 9.0))

    assert simulated.run(following.try_take) is None
    assert isinstance(simulated.run(partial(_append, fence)), Committed)


@pytest.mark.parametrize(
    ("weather", "written"),
    [(Weather(lost_before=1.0), 0), (Weather(lost_after=1.0), 1)],
    ids=["request lost", "answer lost"],
)
def test_append__connection_lost__away_and_found_by_its_command_id(
    simulated: BareDatabase, weather: Weather, written: int
) -> None:
    simulated.server.weather = weather
    with pytest.raises(DatabaseAway):
        simulated.run(partial(_append, None))
    simulated.server.weather = Weather()

    assert simulated.server.log.end == written
    again = simulated.run(partial(_append, None))
    assert isinstance(again, Committed)
    assert again.repeated == bool(written)
    assert simulated.server.log.end == 1


def test_session__process_is_cut_off__lease_is_free_when_the_server_has_noticed(
    simulated: BareDatabase,
) -> None:
    alone, following = simulated.process("alone"), Lease(URL, NAME, "following")
    simulated.run(Lease(URL, NAME, "alone").try_take, alone)
    simulated.server.cut("alone")
    assert simulated.run(following.try_take) is None

    simulated.run(partial(_wait, SILENCE_SECONDS))

    assert simulated.run(following.try_take) == Fence(NAME, 2)


def test_strand__killed_while_it_waits__does_nothing_any_more(simulated: BareDatabase) -> None:
    process, done = simulated.process("worker"), list[str]()

    def work() -> None:
        _append(None)
        done.append("appended")

    process.strand(work)
    simulated.run(partial(_wait, 0.0))
    process.kill()
    simulated.run(partial(_wait, 60.0))

    assert not done
    assert simulated.server.log.end == 0
    assert not simulated.failures


def test_statement__unknown__says_where_to_answer_it(simulated: BareDatabase) -> None:
    log = EventLog(URL)
    with pytest.raises(AssertionError, match="does not know this statement"):
        simulated.run(lambda: log.rows(b"SELECT something_new()", ()))


def _append(fence: Fence | None) -> Any:
    (outcome,) = EventLog(URL).append([append_to("a", command_id="once", fence=fence)])
    return outcome


def _wait(seconds: float) -> None:
    current().wait(seconds)
