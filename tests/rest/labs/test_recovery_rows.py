"""The rows of the table of recovery: reported twice, late, in parts, and by a controller without memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import EAST, People, by_people
from tests.rest.labs.recovery_rows import ROWS, RecoveryRow, RecoveryStage

NUMBERS = itertools.count(1)

every_row = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())


@pytest.fixture
def instance() -> str:
    return f"agent-{next(NUMBERS)}"


@pytest.fixture
def stage(
    client: httpx.Client, people: People, machine: str, machines: Callable[..., str]
) -> Iterator[RecoveryStage]:
    """Yield a stage; cancel its sets and vacate its system afterwards."""
    stage = RecoveryStage(client, people, machine, machines)
    yield stage
    for set_id in stage.set_ids:
        people["alice"].post(f"/recipe-sets/{set_id}/cancel", json={"reason": "over"})
    people["east"].post(f"/lab-controllers/{EAST}/updates", json={"items": [{"vacant": machine}]})


@every_row
def test_recovery__reported_twice__no_further_event(
    row: RecoveryRow, stage: RecoveryStage, instance: str, service: Running
) -> None:
    row.prepare(stage)
    items = row.items(stage)
    stage.require(stage.register(instance, *items, last=True), row.then)
    before, stops = service.end(), stage.stops()
    for name in (instance, f"{instance}-again"):
        stage.require(stage.register(name, *items, last=True), row.then)
    assert by_people(service, before) == []
    assert stage.stops() == stops == row.stopped(stage, row.then)


@every_row
def test_recovery__reported_late__follows_the_log_of_that_time(
    row: RecoveryRow, stage: RecoveryStage, instance: str
) -> None:
    row.prepare(stage)
    items = row.items(stage)
    row.move_on(stage)
    stage.require(stage.register(instance, *items, last=True), row.late)
    assert stage.stops() == row.stopped(stage, row.late)


@every_row
def test_recovery__reported_in_parts__nothing_is_missing_before_the_last(
    row: RecoveryRow, stage: RecoveryStage, instance: str, service: Running
) -> None:
    row.prepare(stage)
    items = row.items(stage)
    before = service.end()
    stage.register(instance, last=False)
    assert by_people(service, before) == []
    named = stage.register(instance, *items, last=False)
    if items:
        stage.require(named, row.then)
    else:
        assert by_people(service, before) == []
    stage.require(stage.register(instance, last=True), row.then)
    assert stage.stops() == row.stopped(stage, row.then)


@every_row
def test_recovery__lab_controller_without_memory__installed_is_aborted_and_system_vacated(
    row: RecoveryRow, stage: RecoveryStage, instance: str
) -> None:
    row.prepare(stage)
    stage.require(stage.register(instance, *row.items(stage), last=True), row.then)
    stage.require(stage.register(f"{instance}-new", last=True), row.without_memory)
