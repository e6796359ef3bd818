"""/lab-controllers/{fqdn}/updates: many items in one message, each with its own answer."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.intake.limits import MAX_FAULTS
from api.rest import paging
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import client_address, keyed_request, principal_of
from api.rest.contract.answers.labs import UpdatesTaken
from api.rest.contract.inputs.labs import Updates
from api.rest.contract.operation import MAX_BATCH_BYTES, operation
from api.rest.ports import UpdateParts
from api.rest.problems import problem_of
from api.rest.resources.update_items import Item, ItemReader
from api.use_cases.lab_updates import take_updates
from api.use_cases.report_progress import Answer
from api.use_cases.resolve import existing
from api.use_cases.submit_job import submitted_numbers
from domain.errors import Fault, FaultyInput, LabledgerError

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
        body = await read_json_bytes(req)
        message: Updates = await parse_model(req, body)
        request = keyed_request(req, body)
        reader = ItemReader(self._parts, principal_of(req), name)
        read_all = partial(_read_all, reader, message.items)
        items, answers = await share_of(req).parse(client_address(req), len(body), read_all)
        own = None if request.is_admin else name
        listed = sum(len(error.faults) for error in answers.values() if isinstance(error, FaultyInput))
        answers |= _bounded(await take_updates(self._parts, request, own, items), MAX_LISTED_FAULTS - listed)
        await self._answer(resp, [answers[number] for number in range(len(message.items))])

    async def _answer(self, resp: Response, answers: list[Answer]) -> None:
        end = await paging.position_of(self._parts.log, None)
        paging.answer(resp, end, {"items": [_shown(answer, end) for answer in answers]})


def _read_all(
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
