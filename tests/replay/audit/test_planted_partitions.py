"""The audit finds events in the wrong partition, and decisions of a stopped one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from domain.directory.events import LabControllerPartitionChanged, PartitionStateChanged
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY
from replay.audit import EventRecord, check, from_recorded
from tests.replay.audit.moves import Pair, idle, place, queued
from tests.replay.audit.planted import opening
from tests.replay.audit.story import Story

OTHER = DEFAULT_NUMBER + 1

Plant = Callable[[EventRecord], EventRecord]


def decided() -> Story:
    """Return the opening with one more job, whose last commit is a decision of two events."""
    story = opening()
    story.job(5, {5: {"force": "a"}})
    story.decide([queued(5), idle("b")])
    return story


def found(records: Sequence[EventRecord]) -> list[str]:
    return [each.what for each in check(records) if each.invariant == "partition_column"]


def in_last_commit(plant: Plant) -> list[str]:
    """Return what is found if the plant changes each event of the last commit."""
    records = list(from_recorded(decided().log))
    last = records[-1].commit_end
    return found([plant(record) if record.commit_end == last else record for record in records])


def test_column__as_the_service_writes_it__is_sound() -> None:
    assert in_last_commit(lambda record: record) == []


@pytest.mark.parametrize(
    ("plant", "what"),
    [
        (lambda record: record._replace(partition=OTHER), "decided in partition 1"),
        (lambda record: record._replace(basis_partition=OTHER), "decided in partition 2"),
        (lambda record: record._replace(partition=EVERYBODY), "decided in partition 1"),
        (
            lambda record: record._replace(partition=EVERYBODY, basis_partition=EVERYBODY),
            "concerns one",
        ),
        (
            lambda record: record._replace(partition=OTHER if record.kind == "recipe" else DEFAULT_NUMBER),
            "belong to several partitions",
        ),
        (lambda record: record._replace(kind="pool"), "concerns all"),
    ],
)
def test_column__wrong__is_found(plant: Plant, what: str) -> None:
    (first, *_) = in_last_commit(plant)
    assert what in first


def test_column__log_from_before_partitions__is_sound_until_the_first_event_of_one() -> None:
    records = list(from_recorded(decided().log))
    old = [record._replace(partition=EVERYBODY, basis_partition=None) for record in records]
    assert found(old) == []
    last = records[-1].commit_end
    assert found([*(record for record in old if record.commit_end < last), *records[-2:]]) == []


def moved(state: str) -> Pair:
    return "partition/default", PartitionStateChanged(state)


@pytest.mark.parametrize(
    ("moves", "cause", "is_found"),
    [
        (["stopped"], None, True),
        (["stopped", "active"], None, False),
        (["draining"], None, False),
        (["stopped"], "timer/watchdog/5", False),
        (["stopped"], "timer/consistency", True),
    ],
)
def test_stopped__decision_on_a_later_basis__is_found_unless_a_deadline_is_its_cause(
    moves: Sequence[str], cause: str | None, is_found: bool
) -> None:
    story = opening()
    story.job(5, {5: {"force": "a"}})
    for state in moves:
        story.commit(moved(state))
    story.decide([queued(5)], cause=cause)
    names = [each.invariant for each in story.violations()]
    assert ("stopped_decides_nothing" in names) == is_found


@pytest.mark.parametrize(("decision", "is_found"), [([queued(5)], False), (place(5, "b"), True)])
def test_stopped__basis_before_the_stop__is_sound_unless_it_grants(
    decision: list[Pair], is_found: bool
) -> None:
    story = opening()
    story.job(5, {5: {"force": "b"}})
    basis = story.end
    story.commit(moved("stopped"))
    story.decide(decision, basis=basis)
    names = [each.invariant for each in story.violations()]
    assert ("stopped_decides_nothing" in names) == is_found


def test_column__lab_that_moves__is_everybodys() -> None:
    story = opening()
    story.commit(("lab-controller/lab-1", LabControllerPartitionChanged(OTHER, ("a",))))
    *before, move = from_recorded(story.log)
    assert found([*before, move._replace(partition=EVERYBODY)]) == []
