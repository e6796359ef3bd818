"""Migrations, and the topics that a log takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from api import database_setup
from cli import main
from domain.events import TOPICS, Change, Event, UnknownTopic, UnknownVersion, event
from domain.job.submission import Ids
from runtime.settings import Settings
from store.event_log import EventLog
from store.mapper import EventMapper, StoredRow
from store.migrate import ChangedMigration, LaterDatabase, Migration, migrate, migrations
from store.requests import AppendRequest
from tests.harness import servers
from tests.harness.appends import STAMP, append_to
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner

FIRST = Migration("2030-01-01-first", "CREATE TABLE first (a int)")
SECOND = Migration("2030-01-02-second", "CREATE TABLE second (a int)")
BROKEN = Migration("2030-01-03-broken", "CREATE TABLE third (a int); SELECT 1 / 0")


def program_with(*later: Migration) -> list[Migration]:
    """Return the migrations of a version that has further ones."""
    return [*migrations(), *later]


@pytest.fixture
def url(database: TestDatabase) -> Iterator[str]:
    yield database.owner_url


def test_migrate__new_files__applied_in_order_and_once(url: str) -> None:
    assert migrate(url, program_with(FIRST)) == [FIRST.name]
    assert migrate(url, program_with(FIRST, SECOND)) == [SECOND.name]
    assert migrate(url, program_with(FIRST, SECOND)) == []


def test_migrate__run_again_by_the_command_line__says_nothing_to_do(url: str) -> None:
    result = CliRunner(env={"LABLEDGER_DATABASE_URL": url}).invoke(main, ["migrate"])

    assert (result.exit_code, result.output) == (0, "nothing to do\n")


def test_migrate__file_changed_after_it_was_applied__refused_and_nothing_done(url: str, owner: Owner) -> None:
    migrate(url, program_with(FIRST))

    with pytest.raises(ChangedMigration, match=FIRST.name):
        migrate(url, program_with(Migration(FIRST.name, FIRST.text + "\n"), SECOND))
    assert not exists(owner, "second")


def test_migrate__one_of_several_fails__none_applied(url: str, owner: Owner) -> None:
    with pytest.raises(Exception, match="division by zero"):
        migrate(url, program_with(FIRST, BROKEN))

    assert not exists(owner, "first")
    assert migrate(url, program_with(FIRST)) == [FIRST.name]


def test_migrate__eight_at_the_same_time__one_applies_all(url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        applied = list(pool.map(lambda _: migrate(url, program_with(FIRST, SECOND)), range(8)))

    assert sorted(applied) == [[]] * 7 + [[FIRST.name, SECOND.name]]


def test_migrate__database_of_a_later_version__refused_by_its_names_and_nothing_done(
    url: str, owner: Owner
) -> None:
    migrate(url, program_with(SECOND, FIRST))

    with pytest.raises(LaterDatabase, match=rf"later version .*\({FIRST.name}, {SECOND.name}\): install"):
        migrate(url, program_with(BROKEN))
    assert not exists(owner, "third")


def test_new_database__with_a_numbering__has_ids_in_its_steps_and_keeps_them() -> None:
    with servers.cluster() as cluster:
        url = cluster.start().owner_url
        database_setup.migrate(Settings.read({}, database_url=url, id_start="5", id_step="10"))
        with closing(EventLog(url)) as log:
            assert log.take_ids([(1, 2, 3)] * 2) == [
                Ids(5, (5,), (5, 15), (5, 15, 25)),
                Ids(15, (15,), (25, 35), (35, 45, 55)),
            ]
        # A later migration with another numbering changes nothing.
        database_setup.migrate(Settings.read({}, database_url=url))
        with closing(EventLog(url)) as log:
            assert log.take_ids([(1, 1, 1)])[0].job == 25


def test_migrations__of_the_package__sql_files_in_order_of_their_dates(tmp_path: Path) -> None:
    for name in ("2026-02-01-b.sql", "2026-01-01-a.sql", "notes.txt"):
        (tmp_path / name).write_text("SELECT 1")

    assert [migration.name for migration in migrations(tmp_path)] == ["2026-01-01-a", "2026-02-01-b"]
    assert migrations(), "the package has its own"


def exists(owner: Owner, table: str) -> bool:
    return owner.execute("SELECT to_regclass(%s)", (table,)).fetchone() != (None,)


PINNED = Path(__file__).with_name("topics.json")

WRITE_AS_OWNER = b"""
INSERT INTO log.events
    (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at)
VALUES ('old/1', 1, %s, %s, 1, 1, now())
"""


def test_topics__all_of_the_program__as_pinned() -> None:
    """Fields of a version never change: raise VERSION, write `upcast`, then add a row to the file by hand."""
    import projections.folding  # noqa: F401  (imports every module of events)

    now = {
        topic: [cls.VERSION, *cls.FIELDS] for topic, cls in TOPICS.items() if not topic.startswith("test.")
    }
    assert now == json.loads(PINNED.read_text("utf-8"))


@pytest.fixture
def renamed() -> Iterator[type[Event]]:
    """Define an event whose field had another name in its first version."""

    @event("test.renamed", version=2)
    class Renamed(Event):
        colour: str

        @classmethod
        def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
            if version != 1:
                return super().upcast(data, version)
            return {"colour": data["color"]}

    yield Renamed
    del TOPICS["test.renamed"]


def test_load__older_version_stored__upcast(log: EventLog, owner: Owner, renamed: type[Event]) -> None:
    store(owner, "test.renamed", version=1, data={"color": "red"})

    (recorded,) = log.load({"old/1": 0})["old/1"]
    assert recorded.event == renamed(colour="red")


def test_load__present_version_written__same_event_read(log: EventLog, renamed: type[Event]) -> None:
    happened = renamed(colour="größer")
    log.append([AppendRequest("written", (Change("new/1", happened, STAMP),), {"new/1": 0})])

    (recorded,) = log.load({"new/1": 0})["new/1"]
    assert (recorded.event, recorded.stamp) == (happened, STAMP)


@pytest.mark.parametrize(
    ("topic", "version", "error"),
    [
        ("test.never-heard-of", 1, UnknownTopic),
        # A later program wrote it; a reader that skips it would have another history.
        ("test.renamed", 3, UnknownVersion),
    ],
)
def test_reading__unreadable_event__stops_the_reader(
    log: EventLog, owner: Owner, renamed: type[Event], topic: str, version: int, error: type[Exception]
) -> None:
    store(owner, topic, version, {})
    log.append([append_to("a")])

    with pytest.raises(error):
        log.select(0, 10, 10)


def store(owner: Owner, topic: str, version: int, data: dict[str, Any]) -> None:
    state = {
        "version": version,
        "at": "2026-01-01T00:00:00Z",
        "actor": "a",
        "cause": "request/1",
        "data": data,
    }
    owner.execute(WRITE_AS_OWNER, (topic, json.dumps(state).encode()))


def test_require_readable__format_of_the_log__only_topic_and_version_are_read(renamed: type[Event]) -> None:
    mapper = EventMapper()
    now = datetime(2026, 1, 1, tzinfo=UTC)

    def row(topic: str, state: bytes) -> StoredRow:
        return StoredRow(1, 1, now, "old/1", 1, topic, state, 0)

    # Nothing after a current version is read.
    mapper.require_readable(row("test.renamed", b'{"version":2,"at":'))
    mapper.require_readable(
        row(
            "test.renamed",
            b'{"at":"2026-01-01T00:00:00Z","actor":"a","cause":"c","version":1,"data":{"color":"red"}}',
        )
    )
    for topic, version, error in (
        ("test.never-heard-of", 1, UnknownTopic),
        ("test.renamed", 3, UnknownVersion),
    ):
        with pytest.raises(error):
            mapper.require_readable(row(topic, b'{"version":%d,"data":{}}' % version))
