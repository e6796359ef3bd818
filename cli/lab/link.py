"""The HTTP requests of a lab controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.client import Client, ServerProblem
from replay.simulated_lab.delivery import REFUSED
from replay.simulated_lab.steps import LabStep

# Maximum number of items in a part of a registration.
MAX_ITEMS = 1_000


class LabLink:
    """The requests of one lab controller. Every update can be repeated without effect."""

    def __init__(self, client: Client, fqdn: str) -> None:
        self._client = client
        self._path = client.path("lab-controllers", fqdn)

    def commands(self, after: int, wait_seconds: int = 0) -> list[dict[str, Any]]:
        """Return the next commands after an id, in log order; wait at most `wait_seconds` for the first."""
        answer = self._client.get(f"{self._path}/commands", after=after, wait_seconds=wait_seconds)
        commands: list[dict[str, Any]] = answer["commands"]
        return commands

    def all_commands(self) -> list[dict[str, Any]]:
        commands: list[dict[str, Any]] = []
        while page := self.commands(commands[-1]["id"] if commands else 0):
            commands += page
        return commands

    def register(self, instance: str, running: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Register everything that runs in the lab, and return the answers.

        Raise ServerProblem if a retry is needed. A lab in no partition cannot register, and gets no answers.
        """
        partition = (self._get(self._path) or {}).get("partition")
        if partition is None:
            return []
        answers: list[dict[str, Any]] = []
        for first in range(0, max(len(running), 1), MAX_ITEMS):
            part, is_last = running[first : first + MAX_ITEMS], first + MAX_ITEMS >= len(running)
            body = {"instance": instance, "partition": partition, "running": part, "last": is_last}
            answers += _retried(self._client.post(f"{self._path}/registration", body)["running"])
        return answers

    def update(self, steps: Sequence[LabStep]) -> list[dict[str, Any]]:
        """Send steps in one request, and return their answers. Raise ServerProblem if a retry is needed."""
        items = [item(step) for step in steps]
        return _retried(self._client.post(f"{self._path}/updates", {"items": items})["items"])

    def recipe(self, recipe_id: int) -> dict[str, Any]:
        """Return a recipe after all updates of this client; state `unknown` if it does not exist."""
        return self._get(f"/recipes/{recipe_id}") or {"recipe_id": recipe_id, "state": "unknown"}

    def condition(self, fqdn: str) -> str | None:
        system = self._get(self._client.path("systems", fqdn))
        return str(system["condition"]) if system else None

    def power_type(self, fqdn: str) -> str | None:
        """Return the type in the power settings of a system, None if it has none; the secret is not kept.

        Raise ServerProblem 403 with a token that is not that of the lab controller itself.
        """
        settings = self._get(f"{self._path}{self._client.path('power-settings', fqdn)}")
        return str(settings["type"]) if settings else None

    def _get(self, path: str) -> dict[str, Any] | None:
        """Return an object; None after a final refusal. Raise ServerProblem if a retry is needed."""
        try:
            answer: dict[str, Any] = self._client.get(path, min_position=self._client.position)
        except ServerProblem as error:
            if error.status not in REFUSED:
                raise
            return None
        return answer

    def with_guest_tasks(self, command: dict[str, Any]) -> dict[str, Any]:
        """Return a command with the tasks of its guest recipes, which the server sends only with recipes."""
        return {**command, "guests": [self._guest(guest) for guest in command.get("guests") or ()]}

    def _guest(self, guest: dict[str, Any]) -> dict[str, Any]:
        if "tasks" in guest:
            return guest
        recipe = self.recipe(int(guest["recipe_id"]))
        return {**guest, "tasks": [{"id": task["task_id"]} for task in recipe.get("tasks") or ()]}


def item(step: LabStep) -> dict[str, Any]:
    if step.kind == "vacant":
        return {"vacant": step.system}
    if step.kind == "system":
        return {"system": dict(step.body)}
    if step.kind == "command":
        return {"command": {"id": step.command, **step.body}}
    return {"progress": {"recipe_id": step.recipe_id, **step.body}}


def _retried(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers of items. Raise ServerProblem if one of them is to be sent again."""
    for answer in answers:
        if int(answer["status"]) >= 500:
            # The caller sends all items again in order; the accepted ones have no effect the second time.
            raise ServerProblem(int(answer["status"]), str(answer.get("title", "")), answer.get("detail", ""))
    return answers
