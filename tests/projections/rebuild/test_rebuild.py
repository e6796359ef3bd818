"""Tests of rebuilt read models, which equal the former ones to the byte, with the same definitions."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from threading import Event

import psycopg
import pytest

from domain.events import Recorded
from postgres.errors import DATABASE_ERRORS
from projections.rebuild import rebuild as fresh_ones
from projections.rebuild.rebuild import Rebuild, RebuildRunning
from projections.rebuild.sessions import CannotRebuild
from runtime.processes.child import ChildFailed
from store.migrate import LOCK, Migration, migrate, migrations
from tests.domain.recipe.samples import recipe_new
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, lock_waiters, owner_session
from tests.harness.waiting import wait_until
from tests.projections.copies import copies, left_over, shape, unchanged
from tests.projections.happened import assigned, queued, registered, submitted
from tests.projections.projected_log import ProjectedLog
from tests.projections.rebuild.silent import silent
from tests.workers.read_models import forget
from workers import rebuild as worker
from workers.rebuild import check, rebuild
from workers.rebuilding import steps
from workers.rebuilding.processes import HalfProcess

# Rights and storage parameters that an operator set by hand.
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
def in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits, so that a short log takes many steps, as a long one does."""
    monkeypatch.setattr(worker, "FEW_EVENTS", 0)
    monkeypatch.setattr(steps, "STEP_EVENTS", 50)
    monkeypatch.setattr(steps, "STEPS_AHEAD", 2)


def test_rebuild__random_history__equal_to_the_byte(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    assert [name for name, rows in copies(owner).items() if not rows] == [], "no table is empty"
    with unchanged(owner):
        assert rebuild(database.owner_url, silent) == story.log.end()
    assert left_over(owner) == []


@pytest.mark.usefixtures("in_halves")
def test_rebuild__log_folded_in_halves__equal_to_the_byte(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    progress: list[tuple[int, int]] = []
    with unchanged(owner):
        rebuild(database.owner_url, lambda position, end: progress.append((position, end)))
    end = story.log.end()
    assert [position for position, _ in progress] == sorted(position for position, _ in progress)
    assert len(set(progress)) > end / 50, "step by step"
    assert check(database.owner_url, silent, 10) == (end, [])


@pytest.mark.usefixtures("in_halves")
def test_rebuild__more_open_rows_than_memory_allows__equal_to_the_byte(
    story: ProjectedLog, database: TestDatabase, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables are completed early, and then changed page by page."""
    monkeypatch.setattr(steps, "MAX_KEPT_ROWS", 20)
    monkeypatch.setattr(worker, "PAGE_SIZE", 50)
    with unchanged(owner):
        rebuild(database.owner_url, silent)


@pytest.mark.usefixtures("in_halves")
def test_rebuild__memory_is_full_within_a_commit__equal_to_the_byte(
    story: ProjectedLog, database: TestDatabase, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first step ends between a recipe set and its recipes, and is the last one that memory allows."""
    log = whole_log(story.log)
    position = next(
        each.position for each in log if each.position > 50 and each.event.TOPIC == "recipe-set.submitted"
    )
    assert log[position - 1].commit_end > position
    monkeypatch.setattr(steps, "STEP_EVENTS", position)
    monkeypatch.setattr(steps, "STEPS_AHEAD", 1)
    monkeypatch.setattr(steps, "MAX_KEPT_ROWS", 0)
    with unchanged(owner):
        rebuild(database.owner_url, silent)


@pytest.mark.usefixtures("in_halves")
def test_rebuild__a_table_refuses_a_row__aborted_and_leaves_nothing(
    story: ProjectedLog, database: TestDatabase, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row comes in the middle of the log, or at its end."""
    owner.execute("ALTER TABLE read.recipes ADD CONSTRAINT none_runs CHECK (state <> 'running') NOT VALID")
    for events in (50, 100_000):
        monkeypatch.setattr(steps, "STEP_EVENTS", events)
        with unchanged(owner), pytest.raises(psycopg.errors.CheckViolation):
            rebuild(database.owner_url, silent)
        assert left_over(owner) == []


@pytest.mark.usefixtures("in_halves")
def test_rebuild__a_child_process_is_killed__aborted_and_leaves_nothing(
    story: ProjectedLog, database: TestDatabase, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(process: HalfProcess, position: int) -> None:
        process.stop()

    monkeypatch.setattr(HalfProcess, "fold_up_to", killed)
    with unchanged(owner), pytest.raises(ChildFailed, match="was killed by signal 9"):
        rebuild(database.owner_url, silent)
    assert left_over(owner) == []


@pytest.mark.usefixtures("in_halves")
def test_rebuild__an_unreadable_event__aborted_with_its_error(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    owner.execute(BY_A_LATER_VERSION)
    with unchanged(owner), pytest.raises(ChildFailed, match=r"UnknownTopic: recipe\.paused"):
        rebuild(database.owner_url, silent)
    assert left_over(owner) == []


def test_rebuild__rows_are_wrong_or_missing__corrected(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    right = copies(owner)
    owner.execute("UPDATE read.recipes SET state = 'running'")
    owner.execute("DELETE FROM read.idle_pool")
    rebuild(database.owner_url, silent)
    assert copies(owner) == right


def test_rebuild__no_projector_has_run__reaches_the_end_of_the_log(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    right = copies(owner)
    forget(owner)
    progress: list[tuple[int, int]] = []
    rebuild(database.owner_url, lambda position, end: progress.append((position, end)))
    assert copies(owner) == right
    assert (progress[0], progress[-1]) == ((0, story.log.end()), (story.log.end(), story.log.end()))


def test_rebuild__rights_and_storage_changed_by_hand__stay(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    owner.execute(BY_HAND)
    before = shape(owner)
    rebuild(database.owner_url, silent)
    assert shape(owner) == before


def test_rebuild__a_running_projector__goes_on(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    story.commit(registered("before"))
    rebuild(database.owner_url, silent)
    story.commit(registered("after"))
    assert {"before", "after"} <= set(story.idle())
    with unchanged(owner):
        rebuild(database.owner_url, silent)


def test_rebuild__another_one_runs__refused_and_the_other_goes_on(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    with begun(database) as first:
        with unchanged(owner), pytest.raises(RebuildRunning, match="another rebuild is running"):
            rebuild(database.owner_url, silent)
        first.complete()
        first.fold(whole_log(story.log))
        with unchanged(owner):
            first.swap(list)
    rebuild(database.owner_url, silent)


def test_rebuild__directly_after_another__not_refused(
    story: ProjectedLog, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has not noticed yet that the session of the first rebuild has ended."""
    ended: list[Owner] = []

    def unnoticed(session: Owner) -> None:
        ended.append(session)

    with monkeypatch.context() as patched, begun(database):
        patched.setattr(psycopg.Connection, "close", unnoticed)
    with begun(database) as fresh:
        assert fresh.position == 0
    for connection in ended:
        connection.close()


def test_rebuild__aborted__leaves_nothing(story: ProjectedLog, database: TestDatabase, owner: Owner) -> None:
    with unchanged(owner), begun(database) as fresh:
        fresh.complete()
        fresh.fold(whole_log(story.log))
    assert left_over(owner) == []


def test_rebuild__database_of_another_version__refused(database: TestDatabase, owner: Owner) -> None:
    migrate(database.owner_url, [*migrations(), NEWER])
    with unchanged(owner), pytest.raises(CannotRebuild, match="labledger migrate"):
        rebuild(database.owner_url, silent)


def test_rebuild__migrated_meanwhile__aborted_and_the_migration_stays(
    database: TestDatabase, owner: Owner
) -> None:
    with begun(database) as fresh:
        migrate(database.owner_url, [*migrations(), NEWER])
        with unchanged(owner), pytest.raises(CannotRebuild):
            fresh.complete()
            fresh.swap(list)
    assert left_over(owner) == []


def test_rebuild__a_client_reads_the_old_ones__swapped_at_once_and_dropped_after_the_read(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    with begun(database) as fresh, owner_session(database.owner_url) as reader, ThreadPoolExecutor(1) as pool:
        fresh.complete()
        fresh.fold(whole_log(story.log))
        with reader.transaction():
            # Until the end of this transaction the tables that it has read cannot be dropped.
            reader.execute("SELECT fqdn FROM read.systems")
            before = copies(owner)
            swapping = pool.submit(fresh.swap, list)
            wait_until(lambda: left_over(owner) == ["read_old"])
            wait_until(lambda: lock_waiters(owner))
            assert copies(owner) == before
        swapping.result(20)
    assert left_over(owner) == []


def test_rebuild__hangs_while_it_swaps__a_projector_goes_on(
    story: ProjectedLog, database: TestDatabase, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh_ones, "HANG_TIMEOUT", "500ms")
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
            story.commit(registered("meanwhile"))
        finally:
            wakes.set()
        with pytest.raises(DATABASE_ERRORS):
            swapping.result(20)
    with unchanged(owner):
        rebuild(database.owner_url, silent)
    assert "meanwhile" in story.idle()


def in_transaction(owner: Owner) -> bool:
    """Return whether a session is idle in a transaction, with its locks."""
    return bool(owner.execute(IN_TRANSACTION).fetchall())


@contextmanager
def begun(database: TestDatabase) -> Iterator[Rebuild]:
    names = [migration.name for migration in migrations()]
    with closing(Rebuild(database.owner_url, LOCK, names)) as fresh:
        yield fresh


def test_rebuild__projector_has_cached_wrong_rows__goes_on_with_the_corrected_ones(
    models: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    models.commit(*submitted(recipe_new(1)))
    owner.execute("UPDATE read.recipe_sets SET priority = 'Low'")
    models.begin_again()
    models.commit(*queued(1))
    rebuild(database.owner_url, silent)
    models.commit(assigned(1))

    assert check(database.owner_url, silent, 10) == (models.log.end(), [])
