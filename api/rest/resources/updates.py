"""/lab-controllers/{fqdn}/updates: many items in one message, each with its own answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import orjson
from falcon.asgi import Request, Response

from api.clock import rfc3339
from api.concurrency_limits import share_of
from api.intake.limits import MAX_FAULTS
from api.rest import paging
from api.rest.body import check_model, parse_model, read_json_bytes
from api.rest.context import client_address, keyed_request
from api.rest.contract.answers.labs import UpdatesTaken
from api.rest.contract.inputs.labs import Update, Updates
from api.rest.contract.inputs.systems import SystemItem
from api.rest.contract.operation import MAX_BATCH_BYTES, MAX_BODY_BYTES, operation
from api.rest.problems import problem_of
from api.rest.resources.inventory_items import change_of
from api.rest.resources.progress import read_report
from api.use_cases.change_job import release_recipe
from api.use_cases.change_system import NewSystemValues
from api.use_cases.lab_updates import (
    RecipeRelease,
    ReportedCommand,
    SystemUpdate,
    add_or_change_system,
    add_system,
    change_own_system,
    take_updates,
)
from api.use_cases.ports import LabParts, RequestContext
from api.use_cases.report_drafts import CommandItem, RecipeItem
from api.use_cases.report_progress import Answer
from api.use_cases.resolve import existing
from domain.errors import Fault, FaultyInput, LabledgerError

DRAIN = NewSystemValues(draining=True, reason="drained by its lab controller")
UNDRAIN = NewSystemValues(draining=False)
REMOVE = NewSystemValues(condition="Removed", reason="removed by its lab controller")


# Maximum for all items of a message together. Further faulty items get the number of their faults only.
MAX_LISTED_FAULTS: Final = 2_000

Item: TypeAlias = RecipeItem | ReportedCommand | SystemUpdate | RecipeRelease


class LabUpdates:
    def __init__(self, parts: LabParts) -> None:
        self._parts = parts

    @operation(
        "Report on many recipes, commands and systems in one message",
        UpdatesTaken,
        body=Updates,
        max_bytes=MAX_BATCH_BYTES,
        keyed=True,
    )
    async def on_post(self, req: Request, resp: Response, name: str) -> None:
        await existing(self._parts.feed, "lab-controller", name)
        body = await read_json_bytes(req)
        message: Updates = await parse_model(req, body)
        request = keyed_request(req, body)
        read_all = partial(self._read_all, message.items, name, request)
        items, answers = await share_of(req).parse(client_address(req), len(body), read_all)
        own = None if request.is_admin else name
        answers |= await take_updates(self._parts, request, own, items)
        await self._answer(resp, [answers[number] for number in range(len(message.items))])

    async def _answer(self, resp: Response, answers: list[Answer]) -> None:
        end = await paging.position_of(self._parts.log, None)
        paging.answer(resp, end, {"items": [_shown(answer, end) for answer in answers]})

    def _read_all(
        self, message: list[dict[str, Any]], name: str, request: RequestContext
    ) -> tuple[dict[int, Item], dict[int, Answer]]:
        items: dict[int, Item] = {}
        answers: dict[int, Answer] = {}
        remaining = MAX_LISTED_FAULTS
        for number, item in enumerate(message):
            try:
                items[number] = self._read(item, name, request, min(MAX_FAULTS, remaining))
            except FaultyInput as error:
                answers[number] = error
                remaining = max(0, remaining - len(error.faults))
        return items, answers

    def _read(
        self, item: dict[str, Any], name: str, request: RequestContext, max_faults: int = MAX_FAULTS
    ) -> Item:
        """Return the update of an item. Raises FaultyInput with at most `max_faults` faults."""
        if len(orjson.dumps(item)) > MAX_BODY_BYTES:
            raise FaultyInput([Fault("item", f"is larger than {MAX_BODY_BYTES} bytes")])
        update = check_model(item, Update, max_faults)
        if update.progress is not None:
            return RecipeItem(update.progress.recipe_id, read_report(update.progress))
        if update.command is not None:
            report = update.command
            return ReportedCommand(
                name, CommandItem(report.id, report.state, report.reason, report.power_failed)
            )
        if update.release is not None:
            recipe_id, reason = update.release.recipe_id, update.release.reason
            own = None if request.is_admin else name
            return RecipeRelease(
                partial(release_recipe, self._parts, lab_controller=own, recipe_id=recipe_id, reason=reason)
            )
        if update.create is not None:
            return self._system(update.create, name, request, add_system)
        if update.system is not None:
            return self._system(update.system, name, request, add_or_change_system)
        return self._simple(update, name)

    def _system(
        self, item: SystemItem, name: str, request: RequestContext, take: Callable[..., Any]
    ) -> SystemUpdate:
        registered = item.document(owner=request.actor, added_at=rfc3339(self._parts.clock()))
        document = {**registered, "lab_controller": name}
        commit = partial(take, self._parts, lab_controller=name, change=change_of(item), document=document)
        return SystemUpdate(f"system/{item.fqdn}", commit)

    def _simple(self, update: Update, name: str) -> SystemUpdate:
        changes = ((update.drain, DRAIN), (update.undrain, UNDRAIN), (update.remove, REMOVE))
        ((fqdn, change),) = [(fqdn, change) for fqdn, change in changes if fqdn is not None]
        commit = partial(change_own_system, self._parts, lab_controller=name, fqdn=fqdn, change=change)
        return SystemUpdate(f"system/{fqdn}", commit)


def _shown(answer: Answer, end: int) -> dict[str, object]:
    if isinstance(answer, LabledgerError):
        return problem_of(answer)
    return {"status": 200, "position": end if answer is None else answer.position}
