"""/lab-controllers/{fqdn}/commands: what a lab controller must do, and how far it is."""

from __future__ import annotations

import time

from falcon.asgi import Request, Response

from api.rest import reading
from api.rest.body import read_model
from api.rest.models import CommandReport
from api.rest.principal import request_of
from api.rest.shapes import lab_command
from api.services import Services
from api.use_cases.report_command import report_command
from domain.errors import Unknown
from domain.names import called

MAX_WAIT_SECONDS = 60
MAX_COMMANDS = 500


class Commands:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        faults = reading.unknown_params(req, "after", "wait_seconds", "unfinished", "min_position")
        after = reading.integer(req, "after", 0, reading.MAX_POSITION, 0, faults)
        wait = reading.integer(req, "wait_seconds", 0, MAX_WAIT_SECONDS, 0, faults)
        reading.check_params(faults)
        unfinished = req.get_param_as_bool("unfinished") or False
        self._require(name)
        reader = self._services.reader
        deadline = time.monotonic() + wait
        asked = {"lab_controller": name, "after": after, "limit": MAX_COMMANDS, "unfinished": unfinished}
        while True:
            at = reader.position
            rows = await reader.rows("commands", asked)
            left = deadline - time.monotonic()
            if rows or left <= 0 or self._services.feed.closing:
                break
            await reader.changed(at, min(left, 1.0))
        reading.answer(resp, at, {"commands": [lab_command(row, name) for row in rows]})

    async def on_patch_one(self, req: Request, resp: Response, name: str, command_id: int) -> None:
        report = await read_model(req, CommandReport)
        done = await report_command(
            self._services, request_of(req), name, command_id, report.state, report.reason
        )
        body = {"id": command_id, "state": report.state}
        await reading.answer_write(resp, self._services, done, body)

    def _require(self, lab_controller: str) -> None:
        if self._services.feed.directory.get("lab-controller", lab_controller) is None:
            raise Unknown(called("lab-controller", lab_controller))
