"""/lab-controllers/{fqdn}/commands: what a lab controller must do, and how far it is."""

from __future__ import annotations

import time

from falcon.asgi import Request, Response

from api.rest import reading
from api.rest.body import read_model
from api.rest.contract import queries, system_answers
from api.rest.contract.inputs import CommandReport
from api.rest.contract.operation import operation
from api.rest.principal import request_of
from api.rest.shapes import lab_command
from api.services import Services
from api.use_cases.report_command import report_command
from domain.errors import Unknown
from domain.names import called

MAX_COMMANDS = 500


class Commands:
    def __init__(self, services: Services) -> None:
        self._services = services

    @operation(
        "Fetch what a lab controller must do next, waiting for it if asked to",
        *(system_answers.LabCommands, queries.CommandQuery),
    )
    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        query: queries.CommandQuery = req.context.query
        self._require(name)
        reader = self._services.reader
        bounds = self._services.bounds
        await reader.reach(query.min_position, bounds.position_wait_seconds)
        deadline = time.monotonic() + min(query.wait_seconds, bounds.long_poll_seconds)
        asked = {
            "lab_controller": name,
            "after": query.after,
            "limit": MAX_COMMANDS,
            "unfinished": query.unfinished,
        }
        while True:
            at = reader.position
            rows = await reader.rows("commands", asked)
            left = deadline - time.monotonic()
            if rows or left <= 0 or self._services.feed.closing:
                break
            await reader.changed(at, min(left, 1.0))
        reading.answer(resp, at, {"commands": [lab_command(row, name) for row in rows]})

    @operation("Report how far a command is", system_answers.CommandReported, body=CommandReport)
    async def on_patch_one(self, req: Request, resp: Response, name: str, command_id: int) -> None:
        report: CommandReport = await read_model(req)
        done = await report_command(
            self._services, request_of(req), name, command_id, report.state, report.reason
        )
        body = {"id": command_id, "state": report.state}
        await reading.answer_write(resp, self._services, done, body)

    def _require(self, lab_controller: str) -> None:
        if self._services.feed.directory.get("lab-controller", lab_controller) is None:
            raise Unknown(called("lab-controller", lab_controller))
