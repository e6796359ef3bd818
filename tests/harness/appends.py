"""Cheap appends of real events."""

from __future__ import annotations

from datetime import UTC, datetime

from domain.directory.events import LabControllerEnabled
from domain.events import Change, Recorded, Stamp
from domain.partition_numbers import EVERYBODY
from store.event_log import EventLog
from store.requests import AppendRequest, Committed, Fence, Outcome

STAMP = Stamp(datetime(2026, 1, 1, tzinfo=UTC), "tester", "request/test")


# Takes the lock of appends, which is held until the transaction ends.
APPEND_NOTHING = "SELECT log.append(" + ", ".join(["'{}'"] * 14) + ")"


def change(subject: str) -> Change:
    return Change(subject, LabControllerEnabled(), STAMP)


def append_to(
    *subjects: str,
    at: int = 0,
    command_id: str | None = None,
    fence: Fence | None = None,
    digest: bytes | None = None,
    answer: bytes | None = None,
    partition: int = EVERYBODY,
) -> AppendRequest:
    """Return a request with one event for each mention of a subject; all are expected at version `at`."""
    expected = dict.fromkeys(subjects, at)
    name = command_id or f"{'+'.join(subjects)}@{at}"
    return AppendRequest(
        name,
        tuple(change(subject) for subject in subjects),
        expected,
        fence,
        digest,
        answer,
        partition=partition,
    )


def positions(outcome: Outcome) -> range:
    """Return the positions of a commit; raise the outcome if the append was refused."""
    if not isinstance(outcome, Committed):
        raise outcome
    return range(outcome.first_position, outcome.position + 1)


def whole_log(log: EventLog) -> list[Recorded]:
    """Return every event, selected part by part as the API does it."""
    found: list[Recorded] = []
    after, end = 0, log.end()
    while after < end:
        part, after = log.select(after, end, 1_000)
        found += part
    return found
