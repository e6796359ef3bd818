"""/lab-controllers/{fqdn}/commands and /updates: the lab controller's side."""

from __future__ import annotations

import time

from falcon.asgi import Request, Response

from api.rest import reading
from api.rest.body import MAX_BATCH_BYTES, check_model, read_model
from api.rest.models import CommandReport, ProgressItem, Updates
from api.rest.principal import principal_of, request_of
from api.rest.problems import problem_of
from api.rest.progress import read_report
from api.rest.shapes import lab_command
from api.services import Services
from api.use_cases.report_command import report_command
from api.use_cases.report_progress import Item, report_progress
from domain.errors import Fault, FaultyInput, LabledgerError, Unknown

MAX_WAIT_SECONDS = 60
MAX_COMMANDS = 500


class Lab:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def on_get_commands(self, req: Request, resp: Response, name: str) -> None:
        faults: list[Fault] = []
        after = reading.integer(req, "after", 0, reading.MAX_POSITION, 0, faults)
        wait = reading.integer(req, "wait_seconds", 0, MAX_WAIT_SECONDS, 0, faults)
        reading.check_params(faults)
        self._require(name)
        reader = self._services.reader
        deadline = time.monotonic() + wait
        asked = {"lab_controller": name, "after": after, "limit": MAX_COMMANDS}
        while True:
            at = reader.position
            rows = await reader.rows("commands", asked)
            left = deadline - time.monotonic()
            if rows or left <= 0 or self._services.feed.closing:
                break
            await reader.changed(at, min(left, 1.0))
        reading.answer(resp, at, {"commands": [lab_command(row, name) for row in rows]})

    async def on_patch_command(self, req: Request, resp: Response, name: str, command_id: int) -> None:
        report = await read_model(req, CommandReport)
        position = await report_command(
            self._services, request_of(req), name, command_id, report.state, report.reason
        )
        body = {"id": command_id, "state": report.state}
        reading.answer(resp, position or self._services.feed.position, body)

    async def on_post_updates(self, req: Request, resp: Response, name: str) -> None:
        self._require(name)
        updates = await read_model(req, Updates, MAX_BATCH_BYTES)
        answers: dict[int, int | LabledgerError] = {}
        items: dict[int, Item] = {}
        for number, update in enumerate(updates.items):
            try:
                items[number] = _item(update)
            except FaultyInput as error:
                answers[number] = error
        own = None if principal_of(req).is_admin else name
        found = await report_progress(self._services, request_of(req), own, list(items.values()))
        answers.update(zip(items, found, strict=True))
        shown = [_shown(answers[number]) for number in range(len(updates.items))]
        last = max((answer for answer in answers.values() if isinstance(answer, int)), default=0)
        reading.answer(resp, last or self._services.feed.position, {"items": shown})

    def _require(self, lab_controller: str) -> None:
        if self._services.feed.directory.get("lab-controller", lab_controller) is None:
            raise Unknown(f"lab controller {lab_controller}")


def _item(update: dict[str, object]) -> Item:
    if list(update) != ["progress"] or not isinstance(update["progress"], dict):
        raise FaultyInput([Fault("item", "only items of one 'progress' object are supported yet")])
    progress = dict(update["progress"])
    recipe_id = progress.pop("recipe_id", None)
    if type(recipe_id) is not int:
        raise FaultyInput([Fault("progress.recipe_id", "a recipe id is a whole number")])
    return Item(recipe_id, read_report(check_model(progress, ProgressItem)))


def _shown(answer: int | LabledgerError) -> dict[str, object]:
    return problem_of(answer) if isinstance(answer, LabledgerError) else {"status": 200, "position": answer}
