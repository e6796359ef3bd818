"""The start of the notifier: from its snapshot as from the whole log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from domain.directory.events import UserNotificationsChanged, UserRemoved
from domain.recipe.events import RecipeCompleted, RecipeReserved
from domain.system.events import SystemConditionChanged, SystemLoaned, SystemOwnerChanged
from store.event_log import EventLog
from store.notifier_snapshots import NotifierSnapshots
from tests.workers.lab import add_lab
from tests.workers.notifying.town import add_user, append, submit_job
from workers.notifying import notice_reader
from workers.notifying.notice_reader import NoticeReader

NOW = datetime.now(UTC)
NEAR_SECONDS = 1800.0


def reader(log: EventLog, position: int) -> NoticeReader:
    return NoticeReader(log, position, NOW, NEAR_SECONDS)


def state(found: NoticeReader) -> tuple[object, ...]:
    return found.people, found._systems, found._kept


def test_start__with_a_snapshot__is_that_of_the_whole_log_without_reading_it(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notice_reader, "SNAPSHOT_EVENTS", 1)
    monkeypatch.setattr(notice_reader, "SNAPSHOT_SECONDS", 0.0)
    for name in ("ann", "bob", "cat"):
        add_user(log, name)
    append(log, "user/ann", UserNotificationsChanged(["job-ended"], [], None))
    kept, other = add_lab(log, "lab", 2)
    append(log, f"system/{kept}", SystemLoaned("ann", (NOW + timedelta(days=3)).isoformat()))
    _, recipes = submit_job(log, "ann", 2)
    for recipe in recipes:
        append(log, f"recipe/{recipe}", RecipeReserved(other, 86_400))
    first = reader(log, log.end())
    first.save_snapshot(log.end())
    saved = log.end()
    append(log, "user/bob", UserRemoved())
    append(log, "user/cat", UserNotificationsChanged(None, ["job-ended"], "w"))
    append(log, f"system/{other}", SystemOwnerChanged("cat"))
    append(log, f"recipe/{recipes[0]}", RecipeCompleted())
    append(log, f"system/{other}", SystemConditionChanged("Broken", "smoke"))
    whole = reader(log, saved), reader(log, log.end())
    log.rows(b"DELETE FROM live.snapshots RETURNING 1", ())
    without = reader(log, saved), reader(log, log.end())
    assert [state(each) for each in whole] == [state(each) for each in without]
    assert without[1].people.mail_chooser_count == 1 and without[1].people.get("bob") is None
    first.save_snapshot(saved)
    without[0].save_snapshot(saved)

    def fail(*_: object) -> None:
        raise AssertionError("the whole log is read")

    monkeypatch.setattr(notice_reader, "events_of_topics", fail)
    assert state(reader(log, log.end())) == state(without[1])
    with pytest.raises(AssertionError, match="the whole log"):
        reader(log, saved - 1)
    rows = log.rows(b"SELECT position FROM live.snapshots WHERE name = 'notifier/1'", ())
    assert [*rows] == [(saved,)]


def test_start__snapshot_of_another_shape__reads_the_whole_log(log: EventLog) -> None:
    add_user(log, "ann")
    for content in ({"position": log.end()}, {"position": log.end(), "people": [{"name": "ann"}]}, []):
        NotifierSnapshots(log).save(log.end(), content)  # type: ignore[arg-type]
        assert reader(log, log.end()).people.get("ann") is not None


def test_snapshot__soon_after_another__is_not_saved(log: EventLog) -> None:
    add_user(log, "ann")
    reader(log, log.end()).save_snapshot(log.end())
    assert not list(log.rows(b"SELECT FROM live.snapshots", ()))
