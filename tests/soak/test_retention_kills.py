"""Serving processes that are killed while they delete results: each lab controller deletes each log once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from signal import SIGKILL
from threading import Event as Flag
from typing import Any

import httpx
import pytest

from api import database_setup
from domain.job.events import JobSubmitted
from domain.recipe.events import RecipeCompleted, RecipeScheduled, RecipeWaiting, TaskResult
from domain.recipe_set.events import RecipeSetSubmitted
from tests.harness.databases import TestDatabase
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.processes import children
from tests.harness.running import Running, free_port
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.projections.happened import host, lab, of, registered, running
from tests.projections.projected_log import Happened, projected_log
from tests.projections.rebuild.silent import silent
from tests.soak.machine import send
from workers.rebuild import check

LABS = ("lab.one.example.com", "lab.two.example.com")
JOBS = 30
# The number of jobs whose results a process deletes before it is killed.
JOBS_PER_LIFE = 6
# A lab controller confirms this many commands before it asks again.
CONFIRMED_AT_ONCE = 3
SUBJECTS = b"SELECT originator_id FROM log.events WHERE topic = %s"
DELETED, EXPIRED, COMPLETED = "job.results-deleted", "job.logs-expired", "command.completed"


def ended_job(number: int) -> list[Happened]:
    """Return a job with a recipe in each lab, which have ended with results."""
    recipes = [2 * number - 1, 2 * number]
    happened: list[Happened] = [
        (f"job/{number}", JobSubmitted("ada", "ada", None, "", (number,), {})),
        (f"recipe-set/{number}", RecipeSetSubmitted(number, "Normal", tuple(recipes))),
    ]
    for recipe, name in zip(recipes, LABS, strict=True):
        fqdn, result = f"host.{name}", TaskResult(10 * recipe + 1, "Pass", "", None, ())
        happened += of("recipe", recipe, host(recipe, job_id=number, recipe_set_id=number))
        happened += of("recipe", recipe, RecipeScheduled(fqdn, name), RecipeWaiting(fqdn, {}))
        happened += [*running(fqdn, recipe), *of("recipe", recipe, result, RecipeCompleted())]
    return happened


def projected(owner: Owner) -> int:
    ((position,),) = owner.execute("SELECT position FROM read.progress").fetchall()
    return int(position)


@contextmanager
def serving(database: TestDatabase, **settings: str) -> Iterator[Running]:
    """Start a service without a scheduler, which would need the events of the systems, too."""
    token = database_setup.first_admin_token(database.settings)
    assert token is not None
    service = Running(database, f"http://127.0.0.1:{free_port()}", token, settings=settings)
    try:
        for name in ("projector", "serve"):
            service.start(name)
        yield service
    finally:
        service.stop()


@dataclass
class LabController:
    """A lab controller that deletes logs; it repeats what it has no answer to."""

    service: Running
    name: str
    # The job of each command.
    jobs: dict[int, int] = field(default_factory=dict)
    confirmed: set[int] = field(default_factory=set)
    _position: int = 0

    def work(self, stop: Flag) -> None:
        while not stop.is_set():
            with suppress(httpx.TransportError), self._client() as client:
                while not stop.is_set():
                    self._confirm(client)

    def unfinished(self) -> list[dict[str, Any]]:
        with self._client() as client:
            return self._commands(client)

    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.service.token}", "Labledger-Acts-As": self.name}
        path = f"{self.service.url}/lab-controllers/{self.name}/commands"
        return httpx.Client(base_url=path, headers=headers, timeout=30, **LOCAL_HTTP)

    def _commands(self, client: httpx.Client) -> list[dict[str, Any]]:
        answer = client.get("", params={"unfinished": "true", "min_position": self._position})
        assert answer.status_code == 200, answer.text
        return [each for each in answer.json()["commands"] if each["kind"] == "delete-logs"]

    def _confirm(self, client: httpx.Client) -> None:
        commands = self._commands(client)
        assert not self.confirmed & {each["id"] for each in commands}, "told of again"
        self.jobs |= {each["id"]: each["job_id"] for each in commands}
        for each in commands[:CONFIRMED_AT_ONCE]:
            answer = client.patch(f"/{each['id']}", json={"state": "completed"})
            assert answer.status_code == 200, answer.text
            self.confirmed.add(each["id"])
            self._position = max(self._position, int(answer.headers["labledger-position"]))


@pytest.mark.soak
def test_deletion__worker_killed_again_and_again__each_lab_controller_deletes_each_log_once(
    database: TestDatabase, owner: Owner
) -> None:
    with projected_log(database) as models:
        models.write(*map(lab, LABS))
        models.write(*(each for name in LABS for each in [registered(f"host.{name}", "Manual", name)]))
        for number in range(1, JOBS + 1):
            models.write(*ended_job(number))
    owner.execute("SET session_replication_role = replica")
    owner.execute("UPDATE log.events SET recorded_at = recorded_at - interval '3 days'")

    def subjects(topic: str) -> Counter[str]:
        return Counter(subject for (subject,) in owner.execute(SUBJECTS, (topic,)))

    stop, kills = Flag(), 0
    with (
        serving(database, LABLEDGER_RETENTION_TAGS="scratch:1") as service,
        ThreadPoolExecutor(len(LABS)) as pool,
    ):
        labs = [LabController(service, name) for name in LABS]
        working = [pool.submit(each.work, stop) for each in labs]
        try:
            end = (owner.execute("SELECT max(notification_id) FROM log.events").fetchone() or (0,))[0]
            wait_until(lambda: projected(owner) >= end, "the read models")
            while (count := subjects(DELETED).total()) < JOBS:
                for pid in wait_until(lambda: children(service.processes["serve"].pid), "a worker"):
                    send(pid, SIGKILL)
                kills += 1
                wanted = min(count + JOBS_PER_LIFE, JOBS)
                wait_until(lambda: subjects(DELETED).total() >= wanted, f"{wanted} deletions")  # noqa: B023
            reports = len(LABS) * JOBS
            wait_until(
                lambda: subjects(COMPLETED).total() == reports or any(each.done() for each in working),
                "the reports",
            )
        finally:
            stop.set()
        for each in working:
            each.result()
        assert [each.unfinished() for each in labs] == [[], []]
        assert kills >= 3
    assert subjects(DELETED) == {f"job/{number}": 1 for number in range(1, JOBS + 1)}
    assert subjects(EXPIRED) == {f"job/{number}": len(LABS) for number in range(1, JOBS + 1)}
    assert set(subjects(COMPLETED).values()) == {1}
    assert [sorted(each.jobs.values()) for each in labs] == [[*range(1, JOBS + 1)]] * len(LABS)
    assert check(database.owner_url, silent, 10)[1] == []
