"""A lab with recipes that its controller reports on, and others that lose their systems meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any, NamedTuple

import httpx

from tests.harness.running import SAMPLES, Running
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.rest.actions import DISTRO, EAST
from tests.soak.reporters import Offer, Taken

RECIPES, REMOVALS = 500, 20
# The read models may be behind a log that was written as fast as the service could.
READ_SECONDS = 180.0

IN_STATE = b"SELECT count(*) FROM log.events WHERE topic = %s"
RESULTS = b"""
SELECT count(*), count(DISTINCT (originator_id, convert_from(state, 'UTF8')::jsonb -> 'data' ->> 'path'))
FROM log.events WHERE topic = 'recipe.task-result'
"""
READ_RESULTS = b"SELECT count(*) FROM read.task_results"
SYSTEM = b"""
SELECT convert_from(state, 'UTF8')::jsonb -> 'data' ->> 'system' FROM log.events
WHERE originator_id = %s AND topic = 'recipe.scheduled' ORDER BY originator_version DESC LIMIT 1
"""
GRANTS_AFTER = b"""
SELECT count(*) FROM log.events
WHERE originator_id = %s AND topic = 'recipe.scheduled' AND notification_id > %s
"""


class Removal(NamedTuple):
    """The seconds until a removal was answered, and until the log had the decision that followed from it."""

    answered: float
    decided: float


@dataclass(frozen=True)
class FloodedLab:
    """Tasks that run, as (recipe id, task id), and recipes that have a system but have not started."""

    service: Running
    admin: httpx.Client
    owner: Owner
    token: str
    tasks: Sequence[tuple[int, int]]
    movable: Sequence[int]

    @contextmanager
    def reporting(self, offer: Offer) -> Iterator[subprocess.Popen[str]]:
        """Start the clients of an offer, which end when it is taken; `taken_by` returns what they took."""
        command = [sys.executable, "-m", "tests.soak.reporters", self.service.url]
        environment = {**os.environ, "LABLEDGER_TOKEN": self.token}
        with subprocess.Popen(command, env=environment, stdin=PIPE, stdout=PIPE, text=True) as process:
            assert process.stdin is not None
            try:
                process.stdin.write(json.dumps(asdict(offer)))
                process.stdin.close()
                yield process
            finally:
                process.kill()

    def remove_system_of(self, recipe_id: int) -> Removal:
        """Remove the system of a recipe, and wait until the scheduler has granted it another one."""
        subject = f"recipe/{recipe_id}"
        (system,) = self.row(SYSTEM, subject)
        began = time.monotonic()
        answer = self.admin.delete(f"/systems/{system}")
        answered = time.monotonic() - began
        assert answer.status_code == 200, answer.text
        position = int(answer.headers["Labledger-Position"])
        wait_until(lambda: self.row(GRANTS_AFTER, subject, position)[0], f"another system for {subject}")
        return Removal(answered, time.monotonic() - began)

    def check_counted(self, offer: Offer) -> None:
        """Check that the log and the read models have each offered result exactly once."""
        assert self.row(RESULTS) == (offer.count, offer.count)
        wait_until(lambda: self.row(READ_RESULTS)[0] >= offer.count, "the read models", READ_SECONDS)
        assert self.row(READ_RESULTS) == (offer.count,)

    def row(self, statement: bytes, *parameters: Any) -> tuple[Any, ...]:
        row: tuple[Any, ...] | None = self.owner.execute(statement, parameters).fetchone()
        assert row is not None
        return row


def taken_by(clients: subprocess.Popen[str]) -> Taken:
    """Wait for the end of the clients, and return the numbers of what was taken and refused."""
    assert clients.stdout is not None
    said = clients.stdout.read()
    assert clients.wait() == 0, "a client was refused, for another reason than too many requests"
    return Taken(**json.loads(said))


def flooded_lab(service: Running, admin: httpx.Client, owner: Owner, folder: Path) -> FloodedLab:
    """Load a lab, start recipes on one part of its systems, and grant systems of the other part.

    The sets with a system of the other part do not start: they wait for a system that runs a recipe.
    """
    document = folder / "lab.json"
    document.write_text(json.dumps(_lab()))
    service.do("lab", "load", str(document))
    service.make_contact(EAST)
    user = {"user": "lab-ops", "role": "lab-controller", "lab_controller": EAST}
    token = str(admin.post("/tokens", json=user).json()["token"])
    lab = FloodedLab(service, admin, owner, token, [], [])
    recipe_ids = _submit_sets(admin, RECIPES, "busy-%")
    wait_until(lambda: lab.row(IN_STATE, "recipe.waiting") == (RECIPES,), "all recipes to start")
    movable = _submit_sets(admin, REMOVALS, "spare-%", "busy-0.%")
    wait_until(lambda: lab.row(IN_STATE, "recipe.assigned")[0] >= REMOVALS, "all systems to be granted")
    with service.client(token) as controller:
        tasks = _start_all(controller, admin, recipe_ids, service.end())
    return FloodedLab(service, admin, owner, token, tasks, movable)


def _lab() -> dict[str, Any]:
    """Return the sample lab with other systems, two spare ones for each removal."""
    lab: dict[str, Any] = json.loads((SAMPLES / "lab.json").read_text())
    pattern = {**next(each for each in lab["systems"] if each["lab_controller"] == EAST), "pools": []}
    names = [f"busy-{number}" for number in range(RECIPES)]
    names += [f"spare-{number}" for number in range(2 * REMOVALS)]
    return {**lab, "systems": [{**pattern, "fqdn": f"{name}.{EAST}"} for name in names]}


def _submit_sets(admin: httpx.Client, count: int, *patterns: str) -> list[int]:
    """Submit equal sets with a recipe for each pattern of names; return the first recipe of each set."""
    leaves = [{"element": "hostname", "op": "like", "value": pattern} for pattern in patterns]
    recipes = [
        {"distro_requires": DISTRO, "host_requires": leaf, "tasks": [{"name": "/a"}]} for leaf in leaves
    ]
    answer = admin.post("/jobs", json={"recipe_sets": [{"recipes": recipes}] * count})
    assert answer.status_code == 201, answer.text
    return list(answer.json()["recipe_ids"])[:: len(patterns)]


def _start_all(
    controller: httpx.Client, admin: httpx.Client, recipe_ids: Sequence[int], end: int
) -> list[tuple[int, int]]:
    """Run the task of each recipe, which the log has at its `end`; return the ids of recipes and tasks."""
    # The read models may be behind the log.
    params = {"min_position": end}
    shown = (admin.get(f"/recipes/{recipe_id}", params=params).json() for recipe_id in recipe_ids)
    tasks = [(each["recipe_id"], each["tasks"][0]["task_id"]) for each in shown]
    items = [
        {"progress": {"recipe_id": recipe_id, "task_id": task_id, "state": "running"}}
        for recipe_id, task_id in tasks
    ]
    answer = controller.post(f"/lab-controllers/{EAST}/updates", json={"items": items})
    assert {item["status"] for item in answer.json()["items"]} == {200}, answer.text[:500]
    return tasks
