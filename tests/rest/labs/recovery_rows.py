"""The table of recovery: the state in the log, the report of the lab controller, and the state afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx

from tests.rest.actions import (
    EAST,
    People,
    after,
    commands,
    finish,
    in_state,
    recipe_for,
    report,
    start,
    submit,
)

UNUSED_ID = 2**31 - 1


@dataclass
class RecoveryStage:
    """A system, a recipe of a row, and the people who act on them."""

    client: httpx.Client
    people: People
    machine: str
    add_machine: Callable[..., str]
    recipe_id: int | None = None
    elsewhere: str | None = None
    set_ids: list[int] = field(default_factory=list)

    def submit(self, fqdn: str, **more: Any) -> int:
        submitted = submit(self.people["alice"], recipe_for(fqdn, **more))
        self.set_ids.append(submitted["recipe_set_id"])
        (recipe_id,) = submitted["recipe_ids"]
        return int(recipe_id)

    def change(self, **values: Any) -> None:
        assert self.client.patch(f"/systems/{self.machine}", json=values).is_success

    def register(self, instance: str, *running: dict[str, Any], last: bool) -> httpx.Response:
        body = {"instance": instance, "partition": "default", "running": list(running), "last": last}
        answer = self.people["east"].post(f"/lab-controllers/{EAST}/registration", json=body)
        assert answer.status_code == 200, answer.text
        assert all(item["status"] == 200 for item in answer.json()["running"]), answer.text
        return answer

    def require(self, answer: httpx.Response, expected: Aftermath) -> None:
        """Assert that the recipe, the system and its commands are as expected after a registration."""
        if self.recipe_id is not None:
            recipe = self.client.get(f"/recipes/{self.recipe_id}", params=after(answer)).json()
            assert recipe["state"] == expected.state
        system = self.client.get(f"/systems/{self.machine}", params=after(answer)).json()
        occupied = system["occupied"]
        reason = (
            None
            if expected.occupied is None
            else expected.occupied.format(recipe=self.recipe_id, elsewhere=self.elsewhere)
        )
        assert (None if occupied is None else occupied["reason"]) == reason
        assert (system["user"] is not None) == expected.is_reserved

    def stops(self) -> list[int]:
        """Return the recipes that the lab controller has to stop on the system."""
        found = commands(self.people["east"], EAST, self.machine)
        return [command["recipe_id"] for command in found if command["kind"] == "stop"]


class Aftermath(NamedTuple):
    """The state of the recipe, None without one, and the reason for which the system is occupied."""

    state: str | None
    occupied: str | None = None
    is_reserved: bool = False


class RecoveryRow(NamedTuple):
    """A row of the table.

    `prepare` leads to the state in the log. `says` is the item about the system, None if nothing runs there.
    `then` follows; `late` follows if the report comes after `move_on`. `without_memory` follows once the lab
    controller has registered again with nothing that runs.
    """

    prepare: Callable[[RecoveryStage], None]
    says: dict[str, Any] | None
    then: Aftermath
    move_on: Callable[[RecoveryStage], None]
    late: Aftermath
    without_memory: Aftermath

    def items(self, stage: RecoveryStage) -> list[dict[str, Any]]:
        """Return the items of a registration about the system."""
        if self.says is None:
            return []
        named = {} if stage.recipe_id is None else {"recipe_id": stage.recipe_id}
        return [{"system": stage.machine, **named, **self.says}]

    def stopped(self, stage: RecoveryStage, then: Aftermath) -> list[int]:
        """Return the recipes that the lab controller has to stop: the one that occupies the system."""
        recipe_id = None if then.occupied is None else stage.recipe_id
        return [] if recipe_id is None else [recipe_id]


# The state in the log


def _waiting(stage: RecoveryStage) -> None:
    stage.recipe_id = stage.submit(stage.machine)
    in_state(stage.client, stage.recipe_id, "waiting")


def _installing(stage: RecoveryStage) -> None:
    _waiting(stage)
    assert stage.recipe_id is not None
    assert report(stage.people["east"], stage.recipe_id, INSTALLING).is_success


def _kept(stage: RecoveryStage) -> None:
    """Let a recipe keep its system after its tasks."""
    kept = {"when": "always", "duration_seconds": 600}
    stage.recipe_id = stage.submit(stage.machine, reservesys=kept)
    east = stage.people["east"]
    finish(east, stage.recipe_id, start(east, stage.recipe_id))
    in_state(stage.client, stage.recipe_id, "reserved")


def _running(stage: RecoveryStage) -> None:
    _waiting(stage)
    _start(stage)


def _completed(stage: RecoveryStage) -> None:
    _waiting(stage)
    _complete(stage)


def _queued(stage: RecoveryStage) -> None:
    stage.change(draining=True, reason="a fan")
    stage.recipe_id = stage.submit(stage.machine)
    in_state(stage.client, stage.recipe_id, "queued")


def _elsewhere(stage: RecoveryStage) -> None:
    stage.elsewhere = stage.add_machine()
    stage.recipe_id = stage.submit(stage.elsewhere)
    in_state(stage.client, stage.recipe_id, "waiting")


def _nothing(_: RecoveryStage) -> None:
    pass


def _reserved(stage: RecoveryStage) -> None:
    stage.change(condition="Manual")
    answer = stage.people["alice"].put(f"/systems/{stage.machine}/reservation", json={})
    assert answer.is_success, answer.text


# The state that follows meanwhile


def _start(stage: RecoveryStage) -> None:
    assert stage.recipe_id is not None
    start(stage.people["east"], stage.recipe_id)


def _complete(stage: RecoveryStage) -> None:
    assert stage.recipe_id is not None
    finish(stage.people["east"], stage.recipe_id, start(stage.people["east"], stage.recipe_id))
    in_state(stage.client, stage.recipe_id, "completed")


def _cancel(stage: RecoveryStage) -> None:
    path = f"/recipe-sets/{stage.set_ids[-1]}/cancel"
    assert stage.people["alice"].post(path, json={"reason": "seen"}).is_success
    assert stage.recipe_id is not None
    in_state(stage.client, stage.recipe_id, "cancelled")


def _undrain(stage: RecoveryStage) -> None:
    stage.change(draining=False)
    assert stage.recipe_id is not None
    in_state(stage.client, stage.recipe_id, "waiting")


def _next_waits(stage: RecoveryStage) -> None:
    """Let another recipe have the system, and keep it."""
    in_state(stage.client, stage.submit(stage.machine), "waiting")


def _return_recipe(stage: RecoveryStage) -> None:
    assert stage.people["alice"].post(f"/recipes/{stage.recipe_id}/return").is_success


def _return(stage: RecoveryStage) -> None:
    assert stage.people["alice"].delete(f"/systems/{stage.machine}/reservation").is_success


RUNS = "recipe {recipe} runs there, but "
COMPLETED = RUNS + "is completed"
UNKNOWN = f"recipe {UNUSED_ID} runs there, which does not exist"
UNNAMED = "something runs there that its lab controller does not name"
INSTALLING = {"state": "installing"}

ROWS: dict[str, RecoveryRow] = {
    "started, runs": RecoveryRow(
        *(_waiting, INSTALLING, Aftermath("installing")),
        *(_complete, Aftermath("completed", COMPLETED)),
        Aftermath("aborted"),
    ),
    "installing, nothing runs": RecoveryRow(
        *(_installing, None, Aftermath("aborted")), *(_cancel, Aftermath("cancelled")), Aftermath("aborted")
    ),
    "reserved by the recipe, nothing runs": RecoveryRow(
        *(_kept, None, Aftermath("aborted")), *(_return_recipe, Aftermath("completed")), Aftermath("aborted")
    ),
    "running, nothing runs": RecoveryRow(
        *(_running, None, Aftermath("aborted")), *(_cancel, Aftermath("cancelled")), Aftermath("aborted")
    ),
    "waiting, nothing runs": RecoveryRow(
        *(_waiting, None, Aftermath("waiting")), *(_start, Aftermath("aborted")), Aftermath("waiting")
    ),
    "not started, runs": RecoveryRow(
        *(_queued, {}, Aftermath("queued", RUNS + "has not started: it is queued")),
        *(_undrain, Aftermath("waiting")),
        Aftermath("queued"),
    ),
    "finished, runs": RecoveryRow(
        *(_completed, {}, Aftermath("completed", COMPLETED)),
        *(_next_waits, Aftermath("completed", COMPLETED)),
        Aftermath("completed"),
    ),
    "elsewhere, runs": RecoveryRow(
        *(_elsewhere, {}, Aftermath("waiting", RUNS + "has {elsewhere}")),
        *(_complete, Aftermath("completed", COMPLETED)),
        Aftermath("waiting"),
    ),
    "another attempt, runs": RecoveryRow(
        *(_waiting, {"attempt": 2}, Aftermath("waiting", RUNS + "is at attempt 1, not 2")),
        *(_complete, Aftermath("completed", COMPLETED)),
        Aftermath("waiting"),
    ),
    "no such recipe, runs": RecoveryRow(
        *(_nothing, {"recipe_id": UNUSED_ID}, Aftermath(None, UNKNOWN)),
        *(_reserved, Aftermath(None, UNKNOWN, is_reserved=True)),
        Aftermath(None),
    ),
    "nothing there, something runs": RecoveryRow(
        *(_nothing, {}, Aftermath(None, UNNAMED)),
        *(_reserved, Aftermath(None, is_reserved=True)),
        Aftermath(None),
    ),
    "reserved by a person, something runs": RecoveryRow(
        *(_reserved, {}, Aftermath(None, is_reserved=True)),
        *(_return, Aftermath(None, UNNAMED)),
        Aftermath(None, is_reserved=True),
    ),
}
