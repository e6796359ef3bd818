"""Read models made anew are those that were there, to the last byte, and stand where they stood."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from threading import Event

import psycopg
import pytest

from domain.events import Recorded
from postgres.errors import AWAY
from projections.rebuild import rebuild as fresh_ones
from projections.rebuild.rebuild import AtWork, Rebuild
from projections.rebuild.sessions import NotMigrated
from runtime.processes.child import ChildFailed
from store.migrate import LOCK, Migration, migrate, migrations
from tests.domain.recipe.samples import recipe_new
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, lock_waiters, owner_session
from tests.harness.waiting import wait_until
from tests.projections.copies import copies, left_over, shape, unchanged
from tests.projections.happened import assigned, queued, registered, submitted
from tests.projections.rebuild.silent import silent
from tests.projections.telling import Told
from tests.workers.read_models import forget
from workers import rebuild as worker
from workers.rebuild import check, rebuild
from workers.rebuilding import steps
from workers.rebuilding.processes import PartProcess

# A stranger may be given rights by hand, a table its own way of being stored.
BY_HAND = b"""
GRANT USAGE ON SCHEMA read TO PUBLIC;
GRANT SELECT ON read.queue TO PUBLIC;
ALTER TABLE read.recipes SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE read.jobs ALTER COLUMN state SET STATISTICS 7;
"""
BY_A_LATER_VERSION = """
INSERT INTO log.topics VALUES ('recipe.paused');
INSERT INTO log.events
SELECT originator_id, originator_version + 9, 'recipe.paused', state,
       notification_id + 1, commit_end + 1, now()
FROM log.events ORDER BY notification_id DESC LIMIT 1
"""
IN_TRANSACTION = b"""
SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'
"""
NEWER = Migration("2030-01-01-newer", "ALTER TABLE read.jobs ADD COLUMN more text")


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the log were a long one, and each step."""
    monkeypatch.setattr(worker, "FEW_EVENTS", 0)
    monkeypatch.setattr(steps, "STEP_EVENTS", 50)
    monkeypatch.setattr(steps, "STEPS_AHEAD", 2)


def test_rebuild__anything_happened__rows_as_they_were_to_the_byte(
    story: Told, database: TestDatabase, owner: Owner
) -> None:
    assert all(copies(owner).values()), "there is something in every table"
    with unchanged(owner):
        assert rebuild(database.owner_url, silent) == story.log.end()
    assert left_over(owner) == []


@pytest.mark.usefixtures("in_parts")
def test_rebuild__log_folded_in_parts__rows_as_they_were_to_the_byte(
    story: Told, database: TestDatabase, owner: Owner
) -> None:
    told: list[tuple[int, int]] = []
    with unchanged(owner):
        rebuild(database.owner_url, lambda position, end: told.append((position, end)))
    end = story.log.end()
    assert [position for position, _ in told] == sorted(position for position, _ in told)
    assert len(set(told)) > end / 50, "step by step"
    assert check(database.owner_url, silent, 10) == (end, [])


@pytest.mark.usefixtures("in_parts")
def test_rebuild__more_is_true_than_is_kept_in_memory__as_they_were_to_the_byte(
    story: Told, database: TestDatabase, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Completed early, they are changed row by row from there on."""
    monkeypatch.setattr(steps, "MOST_KEPT", 20)
    monkeypatch.setattr(worker, "PAGE_SIZE", 50)
    with unchanged(owner):
        rebuild(database.owner_url, silent)


@pytest.mark.usefixtures("in_parts")
def test_rebuild__a_table_refuses_what_is_written__is_given_up_and_leaves_nothing(
    story: Told, database: TestDatabase, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of the log, or when all of it is folded."""
    owner.execute("ALTER TABLE read.recipes ADD CONSTRAINT none_runs CHECK (state <> 'running') NOT VALID")
    for events in (50, 100_000):
        monkeypatch.setattr(steps, "STEP_EVENTS", events)
        with unchanged(owner), pytest.raises(psycopg.errors.CheckViolation):
            rebuild(database.owner_url, silent)
        assert left_over(owner) == []


@pytest.mark.usefixtures("in_parts")
def test_rebuild__a_process_of_a_part_is_killed__is_given_up_and_leaves_nothing(
    story: Told, database: TestDatabase, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(process: PartProcess, position: int) -> None:
        process.stop()

    monkeypatch.setattr(PartProcess, "go_on", killed)
    with unchanged(owner), pytest.raises(ChildFailed, match="was killed by signal 9"):
        rebuild(database.owner_url, silent)
    assert left_over(owner) == []


@pytest.mark.usefixtures("in_parts")
def test_rebuild__an_event_that_is_not_understood__is_given_up_and_says_so(
    story: Told, database: TestDatabase, owner: Owner
) -> None:
    owner.execute(BY_A_LATER_VERSION)
    with unchanged(owner), pytest.raises(ChildFailed, match=r"UnknownTopic: recipe\.paused"):
        rebuild(database.owner_url, silent)
    assert left_over(owner) == []


def test_rebuild__rows_are_wrong_or_gone__are_as_the_log_says(
    story: Told, database: TestDatabase, owner: Owner
) -> None:
    right = copies(owner)
    owner.execute("UPDATE read.recipes SET state = 'running'")
    owner.execute("DELETE FROM read.idle_pool")
    rebuild(database.owner_url, silent)
    assert copies(owner) == right


def test_rebuild__no_projector_has_run__up_to_the_end_of_the_log(
    story: Told, database: TestDatabase, owner: Owner
) -> None:
    right = copies(owner)
    forget(owner)
    told: list[tuple[int, int]] = []
    rebuild(database.owner_url, lambda position, end: told.append((position, end)))
    assert copies(owner) == right
    assert (told[0], told[-1]) == ((0, story.log.end()), (story.log.end(), story.log.end()))


def test_rebuild__rights_and_storage_changed_by_hand__stay(
    story: Told, database: TestDatabase, owner: Owner
) -> None:
    owner.execute(BY_HAND)
    before = shape(owner)
    rebuild(database.owner_url, silent)
    assert shape(owner) == before


def test_rebuild__a_projector_that_was_there_before__goes_on(
    story: Told, database: TestDatabase, owner: Owner
) -> None:
    story.tell(registered("before"))
    rebuild(database.owner_url, silent)
    story.tell(registered("after"))
    assert {"before", "after"} <= set(story.idle())
    with unchanged(owner):
        rebuild(database.owner_url, silent)


def test_rebuild__another_at_work__is_refused_and_the_other_goes_on(
    story: Told, database: TestDatabase, owner: Owner
) -> None:
    with begun(database) as first:
        with unchanged(owner), pytest.raises(AtWork, match="another rebuild is running"):
            rebuild(database.owner_url, silent)
        first.complete()
        first.fold(whole_log(story.log))
        with unchanged(owner):
            first.swap(list)
    rebuild(database.owner_url, silent)


def test_rebuild__one_right_after_the_other__is_not_refused(
    story: Told, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server needs a moment to notice that a session has ended; here it takes until the end."""
    ended: list[Owner] = []

    def unnoticed(session: Owner) -> None:
        ended.append(session)

    with monkeypatch.context() as patched, begun(database):
        patched.setattr(psycopg.Connection, "close", unnoticed)
    with begun(database) as fresh:
        assert fresh.position == 0
    for connection in ended:
        connection.close()


def test_rebuild__given_up__leaves_nothing(story: Told, database: TestDatabase, owner: Owner) -> None:
    with unchanged(owner), begun(database) as fresh:
        fresh.complete()
        fresh.fold(whole_log(story.log))
    assert left_over(owner) == []


def test_rebuild__database_of_another_version__is_refused(database: TestDatabase, owner: Owner) -> None:
    migrate(database.owner_url, [NEWER])
    with unchanged(owner), pytest.raises(NotMigrated, match="labledger migrate"):
        rebuild(database.owner_url, silent)


def test_rebuild__migrated_meanwhile__is_given_up_and_the_migration_stays(
    database: TestDatabase, owner: Owner
) -> None:
    with begun(database) as fresh:
        migrate(database.owner_url, [NEWER])
        with unchanged(owner), pytest.raises(NotMigrated):
            fresh.complete()
            fresh.swap(list)
    assert left_over(owner) == []


def test_rebuild__somebody_reads_the_old_ones__swapped_at_once_and_cleared_away_when_he_is_done(
    story: Told, database: TestDatabase, owner: Owner
) -> None:
    with begun(database) as fresh, owner_session(database.owner_url) as reader, ThreadPoolExecutor(1) as pool:
        fresh.complete()
        fresh.fold(whole_log(story.log))
        with reader.transaction():
            # Until the end of the transaction nobody can drop what it has seen.
            reader.execute("SELECT fqdn FROM read.systems")
            before = copies(owner)
            swapping = pool.submit(fresh.swap, list)
            wait_until(lambda: left_over(owner) == ["read_old"])
            wait_until(lambda: lock_waiters(owner))
            assert copies(owner) == before
        swapping.result(20)
    assert left_over(owner) == []


def test_rebuild__hangs_while_it_swaps__a_projector_goes_on(
    story: Told, database: TestDatabase, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh_ones, "HANGS_AFTER", "500ms")
    hung, wakes = Event(), Event()

    def hang() -> list[Recorded]:
        hung.set()
        assert wakes.wait(60)
        return []

    with begun(database) as fresh, ThreadPoolExecutor(1) as pool:
        fresh.complete()
        swapping = pool.submit(fresh.swap, hang)
        assert hung.wait(20)
        try:
            wait_until(lambda: not in_transaction(owner))
            story.tell(registered("meanwhile"))
        finally:
            wakes.set()
        with pytest.raises(AWAY):
            swapping.result(20)
    with unchanged(owner):
        rebuild(database.owner_url, silent)
    assert "meanwhile" in story.idle()


def in_transaction(owner: Owner) -> bool:
    """Whether anybody does nothing there, and keeps what is locked."""
    return bool(owner.execute(IN_TRANSACTION).fetchall())


@contextmanager
def begun(database: TestDatabase) -> Iterator[Rebuild]:
    names = [migration.name for migration in migrations()]
    with closing(Rebuild(database.owner_url, LOCK, names)) as fresh:
        yield fresh


def test_rebuild__projector_has_seen_what_is_wrong__goes_on_from_what_is_right(
    told: Told, database: TestDatabase, owner: Owner
) -> None:
    told.tell(*submitted(recipe_new(1)))
    owner.execute("UPDATE read.recipe_sets SET priority = 'Low'")
    told.begin_again()
    told.tell(*queued(1))
    rebuild(database.owner_url, silent)
    told.tell(assigned(1))

    assert check(database.owner_url, silent, 10) == (told.log.end(), [])
