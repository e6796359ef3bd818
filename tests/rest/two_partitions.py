"""A service with two partitions whose log the tests append, without a scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from domain.directory.events import LabControllerPartitionChanged, PartitionCreated, PartitionRemoved
from domain.events import Event
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY
from domain.system.events import SystemIdle
from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.harness.watching import serving
from tests.workers.lab import add_lab, equip, put, submit_jobs

OTHER, REMOVED, RECREATED = 2, 3, 4
"""The numbers of the partitions `other`, and of two after each other of the name `again`."""
SYSTEMS = 3
JOBS = 7


@dataclass(frozen=True)
class Story:
    """The labs `lab` in `default`, `west`, which moves to `other`, and `far`, which ends in no partition."""

    service: Running
    client: httpx.Client
    log: EventLog
    created: int
    moved: int
    end: int

    def pages(self, path: str, key: str, **params: Any) -> list[dict[str, Any]]:
        """Return the items of all pages of a list."""
        found: list[dict[str, Any]] = []
        following = str(httpx.URL(path, params={"min_position": self.end, **params}))
        while following:
            answer = self.client.get(following)
            assert answer.status_code == 200, answer.text
            body = answer.json()
            found += body[key]
            following = body["next"]
        return found


@contextmanager
def two_partitions(database: TestDatabase) -> Iterator[Story]:
    with serving(database) as service, closing(EventLog(database.service_url)) as log:
        created, moved = _write(log)
        service.start("projector")
        with service.client() as client:
            wait_until(lambda: _position(client) >= log.end(), "the read models to be at the end")
            yield Story(service, client, log, created, moved, log.end())


def _position(client: httpx.Client) -> int:
    answer = client.get("/jobs")
    return int(answer.json()["position"]) if answer.status_code == 200 else 0


def _write(log: EventLog) -> tuple[int, int]:
    """Append the story; return the positions after the jobs of `default`, and after all moves."""
    equip(log, SYSTEMS)
    labs = {name: add_lab(log, name, SYSTEMS) for name in ("west", "far")}
    fqdns = [f"host-{number:02}.lab" for number in range(SYSTEMS)]
    put(log, [(f"system/{fqdn}", SystemIdle()) for fqdn in (*fqdns, *labs["west"], *labs["far"])], after=2)
    _everybody(log, "partition/other", PartitionCreated(OTHER))
    _everybody(log, "partition/again", PartitionCreated(REMOVED))
    submit_jobs(log, JOBS)
    created = log.end()
    _everybody(log, "lab-controller/west", LabControllerPartitionChanged(OTHER, labs["west"]), 1)
    _everybody(log, "lab-controller/far", LabControllerPartitionChanged(EVERYBODY, labs["far"]), 1)
    _everybody(log, "partition/again", PartitionRemoved(), 1)
    _everybody(log, "partition/again", PartitionCreated(RECREATED), 2)
    moved = log.end()
    # Mixed, so that pages of all partitions have to merge.
    for number in (OTHER, DEFAULT_NUMBER, OTHER):
        submit_jobs(log, JOBS, partition=number)
    return created, moved


def _everybody(log: EventLog, subject: str, event: Event, after: int = 0) -> None:
    put(log, [(subject, event)], after=after, partition=EVERYBODY)
