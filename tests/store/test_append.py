"""Tests of one append: positions, refusals and repetitions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg import sql

from domain.system.events import SystemIdle
from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.in_memory import InMemoryLog
from store.requests import AppendRequest, Committed, Conflict
from tests.harness.appends import STAMP, append_to, change, positions, whole_log
from tests.harness.sessions import Owner, end_sessions

TOMORROW_BY_THE_OWNER = b"""
INSERT INTO log.events
    (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at)
SELECT 'lab-controller/ahead', 1, topic, state, 2, 2, %s FROM log.events
"""


@pytest.mark.promise
def test_append__commits_and_conflicts_in_turn__positions_ascend_without_gaps(log: EventLog) -> None:
    log.append([append_to("a", "b")])
    log.append([append_to("a", command_id="refused")])
    outcomes = log.append([append_to("c"), append_to("b", command_id="also refused"), append_to("d", "d")])
    log.append([append_to("a", at=1)])

    assert [type(outcome) for outcome in outcomes] == [Committed, Conflict, Committed]
    written = whole_log(log)
    assert [recorded.position for recorded in written] == [1, 2, 3, 4, 5, 6]
    assert [recorded.commit_end for recorded in written] == [2, 2, 3, 5, 5, 6]
    assert [(recorded.subject, recorded.version) for recorded in written] == [
        ("a", 1), ("b", 1), ("c", 1), ("d", 1), ("d", 2), ("a", 2),
    ]  # fmt: skip


@pytest.mark.promise
def test_append__with_the_id_of_a_token__is_read_with_it_and_others_without(log: EventLog) -> None:
    by_token = replace(STAMP, token_id="a1b2")
    changes = (change("a"), change("b")._replace(stamp=by_token))
    log.append([AppendRequest("mixed", changes, {"a": 0, "b": 0})])
    assert [recorded.stamp for recorded in whole_log(log)] == [STAMP, by_token]
    # The stored form of an event without a token is that of earlier versions.
    assert b"token" not in log.mapper.state(changes[0])


def test_append__in_a_session_that_began_with_a_short_log__scans_nothing(log: EventLog, owner: Owner) -> None:
    before = scans(log, owner)
    for number in range(20):
        log.append([append_to(f"{number}-{each}") for each in range(10)])
        # A repetition reads the commit of the first append.
        log.append([append_to(f"{number}-0")])
    assert log.end() == 200
    assert scans(log, owner) == before


def scans(log: EventLog, owner: Owner) -> list[Any]:
    """Return the number of sequential scans of each table of the log, with those of the session of `log`."""
    log.rows(b"SELECT pg_stat_force_next_flush()", ())
    return owner.execute(
        "SELECT relname, seq_scan FROM pg_stat_user_tables WHERE schemaname = 'log' ORDER BY relname"
    ).fetchall()


@pytest.mark.promise
def test_append__several_requests__each_gets_its_own_positions(log: EventLog) -> None:
    outcomes = log.append([append_to("a", "b"), append_to("c"), append_to("d", "e", "f")])

    assert [positions(outcome) for outcome in outcomes] == [range(1, 3), range(3, 4), range(4, 7)]


@pytest.mark.promise
def test_existing__subjects_with_and_without_events__are_those_with(log: EventLog) -> None:
    log.append([append_to("a", "b", "a")])
    log.load({"c": 0})

    assert log.existing(["a", "c", "b", "a"]) == {"a", "b"}
    assert log.existing([]) == frozenset()


@pytest.mark.promise
@pytest.mark.parametrize("expected", [0, 1, 3])
def test_append__changed_subject_at_another_version__conflict(log: EventLog, expected: int) -> None:
    log.append([append_to("a", "a")])

    (outcome,) = log.append([append_to("a", at=expected, command_id="late")])

    assert isinstance(outcome, Conflict)
    assert log.end() == 2


@pytest.mark.promise
def test_append__unchanged_subject_at_another_version__conflict(log: EventLog) -> None:
    """A decision may depend on aggregates that it does not change."""
    log.append([append_to("basis")])
    resting = AppendRequest("resting", (change("a"),), {"a": 0, "basis": 0})

    (outcome,) = log.append([resting])

    assert isinstance(outcome, Conflict)
    assert log.end() == 1


@pytest.mark.promise
def test_append__unchanged_subject_at_its_version__written(log: EventLog) -> None:
    log.append([append_to("basis")])

    (outcome,) = log.append([AppendRequest("resting", (change("a"),), {"a": 0, "basis": 1})])

    assert positions(outcome) == range(2, 3)


def test_recorder__called_like_the_library_does__refuses() -> None:
    log = InMemoryLog()
    with pytest.raises(NotImplementedError, match="EventLog"):
        log.put([])
    with pytest.raises(NotImplementedError, match="Tailer"):
        log.recorder.subscribe()


def test_append__change_without_expected_version__refused_at_once() -> None:
    with pytest.raises(ValueError, match="expected version"):
        AppendRequest("careless", (change("a"),), {})


def test_append__clock_went_back__recorded_at_does_not(log: EventLog, owner: Owner) -> None:
    log.append([append_to("a")])
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    owner.execute(TOMORROW_BY_THE_OWNER, (tomorrow,))

    (outcome,) = log.append([append_to("b")])

    assert isinstance(outcome, Committed)
    assert outcome.recorded_at == tomorrow


@pytest.mark.promise
def test_append__command_id_repeated__first_answer_and_nothing_written(log: EventLog) -> None:
    (first,) = log.append([append_to("a", command_id="once", digest=b"digest", answer=b"answer")])
    (again,) = log.append([append_to("z", command_id="once", digest=b"another", answer=b"other")])

    assert isinstance(first, Committed)
    assert isinstance(again, Committed)
    assert (first.repeated, again.repeated) == (False, True)
    assert positions(again) == positions(first)
    # The digest of the first request shows the caller that the same id was used for another request.
    assert (again.digest, again.answer) == (b"digest", b"answer")
    assert again.recorded_at == first.recorded_at
    assert log.end() == 1


@pytest.mark.promise
def test_append__refused_command_id__free_for_another_attempt(log: EventLog) -> None:
    log.append([append_to("a")])
    log.append([append_to("a", command_id="mine")])

    (outcome,) = log.append([append_to("a", at=1, command_id="mine")])

    assert isinstance(outcome, Committed)
    assert not outcome.repeated


@pytest.mark.promise
def test_commit_of__existing_and_missing_command__commit_or_none(log: EventLog) -> None:
    log.append([append_to("a", "b", command_id="made", answer=b"answer")])
    found = log.commit_of("made")

    assert found is not None
    assert (positions(found), found.answer) == (range(1, 3), b"answer")
    assert log.commit_of("never") is None


@pytest.mark.promise
def test_at__some_positions__events_of_existing_ones(log: EventLog) -> None:
    log.append([append_to("a", "b"), append_to("c")])

    assert {at: recorded.subject for at, recorded in log.at([3, 1, 9]).items()} == {1: "a", 3: "c"}


@pytest.mark.promise
def test_directory__up_to_a_position__its_events_in_order(log: EventLog) -> None:
    log.append([append_to("a", "b"), append_to("c")])

    assert [recorded.subject for recorded in log.directory(2)] == ["a", "b"]


def test_append__a_request_that_breaks_a_rule_of_the_table__nothing_written(
    log: EventLog, owner: Owner
) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match="originator_version"):
        owner.execute(
            "SELECT * FROM log.append(ARRAY['x'], ARRAY[NULL], ARRAY[NULL]::bigint[], ARRAY[NULL]::bytea[],"
            " ARRAY[NULL]::bytea[], ARRAY[1], ARRAY['a'], ARRAY[0], ARRAY[1], ARRAY[1], ARRAY['a'], ARRAY[0],"
            " ARRAY[%s], ARRAY['\\x00'::bytea])",
            (SystemIdle.TOPIC,),
        )
    assert log.end() == 0


def test_append__database_takes_no_writes__is_away_until_it_does(log: EventLog, owner: Owner) -> None:
    """The server may be a standby, or read-only for a while."""
    log.append([append_to("a")])
    with _reading_only(owner):
        # All sessions are read-only.
        assert log.end() == 1
        with pytest.raises(DatabaseAway):
            log.append([append_to("b")])
    assert log.end() == 1
    (outcome,) = log.append([append_to("b")])
    assert isinstance(outcome, Committed)


@contextmanager
def _reading_only(owner: Owner) -> Iterator[None]:
    name = sql.Identifier(owner.info.dbname)
    owner.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
    end_sessions(owner)
    try:
        yield
    finally:
        owner.execute(sql.SQL("ALTER DATABASE {} RESET default_transaction_read_only").format(name))
        end_sessions(owner)
