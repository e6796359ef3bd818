"""The read models as an API process reads them: production's `Reader` with other queries."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from postgres.errors import DatabaseAway
from projections.projector import CHANNEL
from projections.read_sessions import Row
from projections.reader import Reader, ReadProgress
from tests.simulation.database.read_tables import ReadTables
from tests.simulation.database.server import Server
from tests.simulation.machine.strands import RUNNING

LOOK_SECONDS = 600.0


class SimulatedReader(Reader):
    """Answers queries from the simulated tables. Waiting for positions is production code."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._progress = ReadProgress()

    async def open(self) -> None:
        (row,) = await self.rows("progress")
        process = RUNNING.get()
        self._server.listen(CHANNEL, self._look)
        process.at_death(lambda: self._server.unlisten(self._look))
        process.task(self._poll())
        self._progress.update(row["position"], row["recorded_at"], row["whole_from"])

    async def rows(self, query: str, params: Mapping[str, Any] | tuple[Any, ...] = ()) -> list[Row]:
        await asyncio.sleep(0.0005 + self._server.dice.random() * 0.002)
        if self._server.away or RUNNING.get().name in self._server.cut_off:
            raise DatabaseAway("connection refused")
        return QUERIES[query](self._server.read, params)

    def _look(self, _: str = "") -> None:
        read = self._server.read
        self._progress.update(read.position, read.recorded_at, read.whole_from)

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if not self._server.away:
                self._look()


def _progress(tables: ReadTables, _: Any) -> list[Row]:
    shown = {"position": tables.position, "recorded_at": tables.recorded_at, "whole_from": tables.whole_from}
    return [shown]


def _commands_by_id(tables: ReadTables, asked: Any) -> list[Row]:
    rows = (tables.open["commands"].get((command_id,)) for command_id in asked["command_ids"])
    return [row for row in rows if row is not None]


def _commands(tables: ReadTables, asked: Any) -> list[Row]:
    """Return the commands of a lab controller after a given one."""
    found = [
        row
        for (command_id,), row in tables.open["commands"].items()
        if row["lab_controller"] == asked["lab_controller"] and command_id > asked["after"]
    ]
    return [_with_recipe(tables, row) for row in sorted(found, key=lambda row: row["command_id"])]


def _with_recipe(tables: ReadTables, row: Row) -> Row:
    detail = tables.present(row["recipe_id"])
    guests = tables.guests_at(row["recipe_id"], row["command_id"]) if row["kind"] == "provision" else []
    shown = {
        name: row[name] for name in ("kind", "system", "recipe_id", "attempt", "state", "distro_tree_id")
    }
    tasks = [{"id": task["task_id"]} for task in detail.get("tasks", ())]
    return {**shown, "id": row["command_id"], "tasks": tasks, "guests": [_guest(each) for each in guests]}


def _guest(detail: Row) -> Row:
    return {"recipe_id": detail["recipe_id"], "tasks": [{"id": one["task_id"]} for one in detail["tasks"]]}


def _recipe(tables: ReadTables, asked: Any) -> list[Row]:
    recipe_id = asked["recipe_id"]
    row = tables.open["recipes"].get((recipe_id,))
    if row is None:
        return []
    numbers = [task["task_id"] for task in tables.present(recipe_id)["tasks"]]
    tasks = [{"task_id": each, "state": tables.open["tasks"][(each,)]["state"]} for each in numbers]
    return [{"recipe_id": recipe_id, "state": row["state"], "system": row["system"], "tasks": tasks}]


def _uses_in_lab(tables: ReadTables, asked: Any) -> list[Row]:
    used = {fqdn for (fqdn,), row in tables.open["system_usage"].items() if row["recipe_id"] is not None}
    return [
        {"fqdn": fqdn}
        for (fqdn,), row in sorted(tables.open["systems"].items())
        if row["lab_controller"] == asked["lab_controller"] and (fqdn in used or row["occupied"] is not None)
    ]


def _system(tables: ReadTables, asked: Any) -> list[Row]:
    row = tables.open["systems"].get((asked["fqdn"],))
    return [] if row is None else [{"fqdn": asked["fqdn"], "condition": row["condition"]}]


QUERIES = {
    "progress": _progress,
    "commands_by_id": _commands_by_id,
    "commands": _commands,
    "recipe": _recipe,
    "system": _system,
    "uses_in_lab": _uses_in_lab,
}
