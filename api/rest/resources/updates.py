"""/lab-controllers/{fqdn}/updates: many items in one message, each with its own answer."""

from __future__ import annotations

import re
from functools import partial
from hashlib import sha256
from typing import Any, Final

from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.intake.limits import MAX_FAULTS
from api.rest import paging
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import client_address, keyed_request, principal_of
from api.rest.contract.answers.labs import RegistrationTaken, UpdatesTaken
from api.rest.contract.inputs.labs import Registration, Updates
from api.rest.contract.operation import MAX_BATCH_BYTES, operation
from api.rest.contract.values import FQDN_PATTERN, MAX_FQDN_LENGTH
from api.rest.ports import UpdateParts
from api.rest.problems import problem_of
from api.rest.resources.update_items import ItemReader
from api.use_cases.lab_updates import Item, take_updates
from api.use_cases.register_lab import RegistrationPart, take_part
from api.use_cases.report_progress import Answer
from api.use_cases.resolve import existing
from api.use_cases.submit_job import submitted_numbers
from domain.errors import Fault, FaultyInput, LabledgerError
from store.registrations import UNNAMED

# Maximum for all items of a message together. Further faulty items get the number of their faults only.
MAX_LISTED_FAULTS: Final = 2_000


class LabUpdates:
    def __init__(self, parts: UpdateParts) -> None:
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
        body = await self._read_body(req)
        message: Updates = await parse_model(req, body)
        request = keyed_request(req, body)
        await self._parts.item_pace.wait_turn(request.caller, len(message.items))
        items, answers = await self._read_items(req, name, message.items, len(body))
        own = None if request.is_admin else name
        listed = sum(len(error.faults) for error in answers.values() if isinstance(error, FaultyInput))
        answers |= _bounded(await take_updates(self._parts, request, own, items), MAX_LISTED_FAULTS - listed)
        end = await paging.position_of(self._parts.log, None)
        shown = [_shown(answers[number], end) for number in range(len(message.items))]
        paging.answer(resp, end, {"items": shown})

    @operation(
        "Register the systems of a lab controller, and the recipes that run on them, in parts",
        RegistrationTaken,
        body=Registration,
        max_bytes=MAX_BATCH_BYTES,
        keyed=True,
    )
    async def on_post_registration(self, req: Request, resp: Response, name: str) -> None:
        await existing(self._parts.feed, "lab-controller", name)
        body = await self._read_body(req)
        message: Registration = await parse_model(req, body)
        request = keyed_request(req, body)
        documents: list[dict[str, Any]] = [
            *({"system": document} for document in message.systems),
            *({"running": document} for document in message.running),
        ]
        await self._parts.item_pace.wait_turn(request.caller, len(documents))
        items, faulty = await self._read_items(req, name, documents, len(body))
        part = part_of(message, items, faulty, sha256(body).digest())
        own = None if request.is_admin else name
        answers = await take_part(self._parts, request, name, own, part)
        end = await paging.position_of(self._parts.log, None)
        shown = [_shown(answers[number], end) for number in range(len(documents))]
        count = len(message.systems)
        paging.answer(resp, end, {"systems": shown[:count], "running": shown[count:]})

    async def _read_body(self, req: Request) -> bytes:
        """Return the body. Raises TooOften, before it is read, if too many items of the caller wait."""
        self._parts.item_pace.require_room(principal_of(req).limit_key)
        return await read_json_bytes(req)

    async def _read_items(
        self, req: Request, name: str, documents: list[dict[str, Any]], size: int
    ) -> tuple[dict[int, Item], dict[int, Answer]]:
        """Return the result of `read_items`, which counts for the share of the client in parsing."""
        reader = ItemReader(self._parts, principal_of(req), name)
        return await share_of(req).parse(client_address(req), size, partial(read_items, reader, documents))


def part_of(
    message: Registration, items: dict[int, Item], faulty: dict[int, Answer], digest: bytes
) -> RegistrationPart:
    """Return the part of a registration from its message, its valid items, and the answers for the others."""
    count = len(message.systems)
    fields = [*((each, "fqdn") for each in message.systems), *((each, "system") for each in message.running)]
    names = [document.get(field) for document, field in fields]
    return RegistrationPart(
        instance=message.instance,
        partition=message.partition,
        items=items,
        faulty=faulty,
        system_of_item={number: name if isinstance(name, str) else None for number, name in enumerate(names)},
        systems={number: message.systems[number]["fqdn"] for number in items if number < count},
        running=[
            (document["system"], document.get("recipe_id") or UNNAMED if count + number in items else UNNAMED)
            for number, document in enumerate(message.running)
            # Something runs on the system also if the rest of the item has faults.
            if _is_fqdn(document.get("system"))
        ],
        digest=digest,
        is_last=message.last,
    )


def _is_fqdn(name: Any) -> bool:
    return (
        isinstance(name, str)
        and len(name) <= MAX_FQDN_LENGTH
        and re.fullmatch(FQDN_PATTERN, name) is not None
    )


def read_items(
    reader: ItemReader, documents: list[dict[str, Any]]
) -> tuple[dict[int, Item], dict[int, Answer]]:
    """Return the valid items, and answers for the others, by their numbers in the message."""
    items: dict[int, Item] = {}
    answers: dict[int, Answer] = {}
    remaining = MAX_LISTED_FAULTS
    for number, document in enumerate(documents):
        try:
            items[number] = reader.read(document, min(MAX_FAULTS, remaining))
        except FaultyInput as error:
            answers[number] = error
            remaining = max(0, remaining - len(error.faults))
    return items, answers


def _bounded(taken: dict[int, Answer], remaining: int) -> dict[int, Answer]:
    """Return the answers with at most `remaining` faults, and the numbers of the others."""
    answers: dict[int, Answer] = {}
    for number, answer in taken.items():
        answers[number] = answer
        if isinstance(answer, FaultyInput):
            count, listed = len(answer.faults), max(0, remaining)
            if count > listed:
                more = Fault("item", f"and {count - listed} more errors")
                answers[number] = FaultyInput([*answer.faults[:listed], more])
            remaining -= count
    return answers


def _shown(answer: Answer, end: int) -> dict[str, object]:
    if isinstance(answer, LabledgerError):
        return problem_of(answer)
    if answer is None:
        return {"status": 200, "position": end}
    shown: dict[str, object] = {"status": 200, "position": answer.position}
    numbers = submitted_numbers(answer)
    return shown if numbers is None else {**shown, "job": numbers}
