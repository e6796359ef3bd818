"""A server with the commands and recipes of a lab, which refuses contradictory reports."""

from __future__ import annotations

from threading import Lock
from typing import Any

from replay.simulated_lab.steps import LabStep
from tests.cli.loopback import Answer, LoopbackServer, ReceivedRequest
from tests.replay.listening import Listener

LAB = "/lab-controllers/lab.example.com"


def provision(command_id: int, recipe_id: int, system: str = "a", **more: Any) -> dict[str, Any]:
    tasks = [{"id": recipe_id * 10, "name": "/t"}, {"id": recipe_id * 10 + 1, "name": "/u"}]
    made = {"id": command_id, "kind": "provision", "recipe_id": recipe_id, "system": system, "tasks": tasks}
    return {**made, "state": "queued", "guests": [], **more}


class LabServer:
    """A server of one lab. `heard` are the progress messages that were new, `reported` those about systems.

    `new` commands appear at the second request, so the lab does not recall them after a restart.
    """

    def __init__(
        self,
        server: LoopbackServer,
        *commands: dict[str, Any],
        condition: str = "Automated",
        new: bool = True,
    ) -> None:
        self.given = list(commands)
        self.commands: dict[int, list[dict[str, Any]]] = {}
        self.reported: list[dict[str, Any]] = []
        self.condition = condition
        self._new = new
        self._listener = Listener()
        self._lock = Lock()
        labs = [{"fqdn": "lab.example.com", "enabled": True}]
        server.on("GET", "/lab-controllers", Answer({"lab_controllers": labs, "next": None}))
        server.on("GET", f"{LAB}/commands", self._commands)
        server.on("POST", f"{LAB}/updates", self.updates)
        for command in commands:
            server.on("GET", f"/systems/{command['system']}", self._system)
            self._offer(server, command)

    @property
    def recipes(self) -> dict[int, str]:
        return self._listener.recipes

    @property
    def heard(self) -> list[dict[str, Any]]:
        return [{"recipe_id": step.recipe_id, **step.body} for step in self._listener.heard]

    def _offer(self, server: LoopbackServer, command: dict[str, Any]) -> None:
        for recipe in (command, *command.get("guests", ())):
            if recipe["recipe_id"] is not None:
                server.on("GET", f"/recipes/{recipe['recipe_id']}", self._recipe(recipe, command))

    def _commands(self, asked: ReceivedRequest) -> Answer:
        if self._new:
            self._new = False
            return Answer({"commands": []})
        after = int(asked.query["after"][0])
        return Answer({"commands": [command for command in self.given if command["id"] > after][:20]})

    def _system(self, _: ReceivedRequest) -> Answer:
        return Answer({"condition": self.condition})

    def _recipe(self, recipe: dict[str, Any], command: dict[str, Any]) -> Any:
        tasks = [task["id"] for task in recipe.get("tasks") or [{"id": recipe["recipe_id"] * 10}]]

        def answer(_: ReceivedRequest) -> Answer:
            states = [{"task_id": task, "state": self._listener.tasks.get(task, "new")} for task in tasks]
            state = self.recipes.get(recipe["recipe_id"], "waiting")
            fields = {"recipe_id": recipe["recipe_id"], "state": state, "system": command["system"]}
            return Answer({**fields, "tasks": states})

        return answer

    def updates(self, asked: ReceivedRequest) -> Answer:
        with self._lock:
            return Answer({"items": [self._take(item) for item in asked.json()["items"]]})

    def _take(self, item: dict[str, Any]) -> dict[str, Any]:
        if "system" in item:
            self.reported.append(item["system"])
            self.condition = item["system"]["condition"]
            return {"status": 200}
        if "command" in item:
            self._report(**item["command"])
            return {"status": 200}
        return {"status": self.hear(item["progress"])}

    def _report(self, id: int, **report: Any) -> None:
        self.commands.setdefault(id, []).append(report)
        for command in self.given:
            if command["id"] == id:
                command["state"] = report["state"]

    def hear(self, progress: dict[str, Any]) -> int:
        recipe_id = progress["recipe_id"]
        body = {name: value for name, value in progress.items() if name != "recipe_id"}
        return self._listener.hear(LabStep(0.0, "", "progress", body, recipe_id, self._host(recipe_id)))

    def _host(self, recipe_id: int) -> int:
        for command in self.given:
            if any(guest["recipe_id"] == recipe_id for guest in command.get("guests", ())):
                return int(command["recipe_id"])
        return recipe_id
