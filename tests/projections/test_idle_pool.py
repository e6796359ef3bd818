"""Tests of the idle pool, compared with the domain at every commit of random histories."""

from __future__ import annotations

from random import Random
from typing import Any

import psycopg
import pytest

from domain.directory.events import LabControllerDisabled, LabControllerPartitionChanged, PoolRegistered
from domain.events import Event
from domain.partition_numbers import EVERYBODY
from store.datastore import connect
from tests.harness.databases import TestDatabase
from tests.projections.happened import lab, registered
from tests.projections.projected_log import ProjectedLog
from tests.projections.random_history import SYSTEMS, Plain, project_in_pages, write_history


@pytest.mark.parametrize("seed", range(3))
def test_idle_pool__random_history__equals_a_plain_fold_at_every_commit(
    models: ProjectedLog, seed: int
) -> None:
    dice = Random(seed)
    write_history(models, dice)
    log, plain, expected = list(models.unread()), Plain(), {}
    for recorded in log:
        plain.apply(recorded)
        if recorded.position == recorded.commit_end:
            expected[recorded.position] = plain.idle()
    project_in_pages(models, log, dice)

    assert {at: models.idle(at=at) for at in expected} == expected
    assert len({tuple(found) for found in expected.values()}) > 5, "the pool changes"
    for fqdn in SYSTEMS:
        assert as_shown(models, fqdn) == plain.shown(fqdn)


def as_shown(models: ProjectedLog, fqdn: str) -> tuple[object, ...]:
    shown = ("version", "lab_controller", "condition", "usage", "recipe_id", "draining", "reserved_by")
    row = models.system(fqdn)
    return *(row[name] for name in shown), set(row["pools"])


class Counting(psycopg.Cursor[Any]):
    """Counts the statements of all cursors."""

    statements = 0

    def execute(self, *args: Any, **kwargs: Any) -> Counting:
        Counting.statements += 1
        return super().execute(*args, **kwargs)


@pytest.mark.parametrize("event", [LabControllerDisabled(), LabControllerPartitionChanged(EVERYBODY, ())])
def test_lab_stops_serving__many_systems__same_number_of_statements(
    models: ProjectedLog, database: TestDatabase, event: Event
) -> None:
    models.commit(lab("lab-1"), lab("lab-2"), registered("first"))
    models.commit(*(registered(f"s{number}", lab_controller="lab-2") for number in range(200)))
    with connect(database.service_url, cursor_factory=Counting) as connection:
        other, counts = ProjectedLog(models.log, connection), []
        # The first page of a projector stores the actor of its part.
        models.write(("pool/any", PoolRegistered(None)))
        other.project(other.unread())
        for name in ("lab-1", "lab-2"):
            before = Counting.statements
            models.write((f"lab-controller/{name}", event))
            other.project(other.unread())
            counts.append(Counting.statements - before)
        assert counts[0] == counts[1]
        assert other.idle() == {}
