"""Appends of real events, cheaply."""

from __future__ import annotations

from datetime import UTC, datetime

from domain.directory.events import LabControllerEnabled
from domain.events import Change, Recorded, Stamp
from store.event_log import EventLog
from store.requests import AppendRequest, Committed, Fence, Outcome

STAMP = Stamp(datetime(2026, 1, 1, tzinfo=UTC), "tester", "request/test")


def change(subject: str) -> Change:
    return Change(subject, LabControllerEnabled(), STAMP)


def append_to(
    *subjects: str,
    at: int = 0,
    command_id: str | None = None,
    fence: Fence | None = None,
    digest: bytes | None = None,
    answer: bytes | None = None,
) -> AppendRequest:
    """One event for each mention of a subject; all subjects are expected at the version given."""
    expected = dict.fromkeys(subjects, at)
    name = command_id or f"{'+'.join(subjects)}@{at}"
    return AppendRequest(
        name, tuple(change(subject) for subject in subjects), expected, fence, digest, answer
    )


def positions(outcome: Outcome) -> range:
    """The positions of a commit; what was refused raises why."""
    if not isinstance(outcome, Committed):
        raise outcome
    return range(outcome.first_position, outcome.position + 1)


def whole_log(log: EventLog) -> list[Recorded]:
    """Every event, read as it is shown: in parts, each of which says how far it goes."""
    found: list[Recorded] = []
    after, end = 0, log.end()
    while after < end:
        part, after = log.select(after, end, 1_000)
        found += part
    return found
