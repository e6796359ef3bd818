"""Planted faults in the records of decisions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from domain.events import Basis, Stamp
from replay.audit import EventRecord, check, from_recorded
from tests.replay.audit.moves import cancelled, idle, only, pending, place, queued
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import AT, Story


def _decided() -> Story:
    """Return the opening with one more job and its decision."""
    story = opening()
    story.job(5, {5: {"force": "a"}})
    story.decide([queued(5)])
    return story


def _with(records: list[EventRecord], **fields: Any) -> list[str]:
    """Return the violations if the last event had these other fields."""
    *before, last = records
    return [violation.invariant for violation in check([*before, last._replace(**fields)])]


@pytest.mark.parametrize(
    "fields",
    [
        {"actor": "ada"},
        {"basis": None, "number": None},
        {"basis": 10**9},
        # Not even its own earlier decisions.
        {"basis": 0, "cause": "timer/watchdog"},
        {"number": 1},
        {"number": None},
        {"cause": "request/1"},
        {"cause": "timer/"},
        {"cause": "event/1000000000"},
        {"cause": "event/one"},
        {"at": AT + timedelta(microseconds=1)},
    ],
    ids=str,
)
def test_decisions__stamped_otherwise__is_found(fields: dict[str, object]) -> None:
    records = list(from_recorded(_decided().log))
    assert _with(records, cause="timer/watchdog") == []
    assert _with(records, **fields) == ["decisions"]


def test_decisions__basis_within_a_commit__is_found() -> None:
    story = _decided()
    story.complete(1, "a")
    story.decide([queued(2)], basis=story.end - 1)
    assert_caught(story, "decisions", "recipe/2", beside={"legal_transitions"})


def test_decisions__basis_falls__is_found() -> None:
    story = opening()
    before = story.end
    story.decide(place(2, "b"))
    story.commit(pending("b"))
    story.decide([idle("b")], basis=before)
    assert_caught(story, "decisions", "system/b", beside=None)


def test_decisions__two_causes_in_one__is_found() -> None:
    story = opening()
    story.job(5, {5: {"force": "a"}, 6: {"force": "a"}})
    basis = Basis(story.end, AT, epoch=1, policy_version=1)
    stamps = [Stamp(AT, "scheduler", f"event/{cause}", basis, 0) for cause in (1, basis.position)]
    story.commit(queued(5), queued(6), stamps=stamps)
    assert_caught(story, "decisions", "recipe/5", "recipe/6")


def test_decisions__grant_by_somebody_else__is_found() -> None:
    story = opening()
    story.job(5, {5: {"force": "b"}})
    story.commit(*place(5, "b"))
    assert_caught(story, "decisions", "recipe/5")


def test_whole_commits__last_event_is_missing__is_found() -> None:
    story = opening()
    story.progress(1, "a", "installing")
    records = list(from_recorded(story.log))
    assert "whole_commits" in {violation.invariant for violation in check(records[:-1])}


def test_whole_commits__positions_fall__is_found() -> None:
    first, second, *rest = from_recorded(opening().log)
    assert [violation.invariant for violation in check([second, first, *rest])] == ["whole_commits"]


def test_nobody_fenced_writes__next_scheduler_takes_over__is_sound() -> None:
    story = opening()
    story.queue(5, {5: only("a")})
    story.commit(cancelled(5))
    story.complete(1, "a")
    story.decide(place(2, "a"), epoch=3)
    assert story.violations() == []


def test_nobody_fenced_writes__the_one_before_writes_later__is_found() -> None:
    story = opening()
    story.job(5, {5: only("a")})
    story.decide([queued(5)], epoch=2)
    story.complete(1, "a")
    story.decide(place(2, "a"), epoch=1)
    assert_caught(story, "nobody_fenced_writes", "recipe/2")


def test_nobody_fenced_writes__two_epochs_in_one_commit__is_found() -> None:
    story = opening()
    story.job(5, {5: only("a"), 6: only("a")})
    stamps = [
        Stamp(AT, "scheduler", f"event/{story.end}", Basis(story.end, AT, epoch, policy_version=1), 0)
        for epoch in (2, 1)
    ]
    story.commit(queued(5), queued(6), stamps=stamps)
    assert_caught(story, "nobody_fenced_writes", "recipe/6")


def test_nobody_fenced_writes__no_epoch__is_found() -> None:
    records = list(from_recorded(_decided().log))
    assert _with(records, epoch=None) == ["nobody_fenced_writes"]
