"""Messages of a lab controller with progress of recipes and commands, and changes of its systems."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from api.use_cases.change_system import NewSystemValues, change_system, register_system
from api.use_cases.idempotency import item_request, items_done_before, require_same
from api.use_cases.ports import LabParts, RequestContext, WriteParts
from api.use_cases.report_command import commands_by_id, may_have_effects, report_on, unknown_command
from api.use_cases.report_drafts import CommandItem, RecipeItem
from api.use_cases.report_progress import Answer, earlier_answers, report_progress
from api.use_cases.rights import require_own_lab
from api.use_cases.system_rights import require_may_give_away
from domain.errors import Fault, FaultyInput, LabledgerError, NotPermitted, Refused
from domain.system.state import System
from domain.system_admin.registration import unknown_names
from runtime.locks import LockClass
from store.requests import Committed

# The items that wait for their commits together share a group commit, so more of them need fewer commits.
MAX_CONCURRENT_ITEMS = 64

CommitItem = Callable[[RequestContext], Awaitable[Committed | None]]
"""A function that commits an item; its argument is the item's request (`idempotency.item_request`)."""


@dataclass(frozen=True)
class SystemUpdate:
    """An item with its own commit that changes the system with this subject."""

    subject: str
    commit: CommitItem


@dataclass(frozen=True)
class OrderedUpdate:
    """An item with its own commit, which is processed after all items before it."""

    commit: CommitItem


@dataclass(frozen=True)
class ReportedCommand:
    """A report on a command of this lab controller."""

    lab_controller: str
    report: CommandItem


Report = RecipeItem | CommandItem
Item = RecipeItem | ReportedCommand | SystemUpdate | OrderedUpdate


async def take_updates(
    parts: LabParts,
    request: RequestContext,
    lab_controller: str | None,
    items: Mapping[int, Item],
) -> dict[int, Answer]:
    """Process the items in order, each with its own answer; changes of different systems run concurrently.

    Consecutive reports are processed together. `lab_controller` is the reporting one, None for an admin.
    Items and answers are keyed by their numbers in the message. Under an Idempotency-Key an item that was
    committed before gets its first answer (`idempotency.item_request`); an item that changed nothing, or was
    refused, is processed again. Raises FaultyInput for a key that was used with another message.
    """
    done = await items_done_before(parts.log, request, items)
    answers = earlier_answers(done)
    todo, unknown = await _resolved(parts, {n: item for n, item in items.items() if n not in answers})
    answers |= unknown
    for kind, run in groupby(todo.items(), key=lambda numbered: _kind(numbered[1])):
        if kind is Report:
            reports = {number: item for number, item in run if isinstance(item, Report)}
            taken = await report_progress(
                parts, request, lab_controller, list(reports.values()), list(reports)
            )
            answers.update(zip(reports, taken, strict=True))
        elif kind is SystemUpdate:
            updates = {number: item for number, item in run if isinstance(item, SystemUpdate)}
            answers.update(await _commit_by_system(request, updates))
        else:
            # A release must find the system draining if an earlier item drains it.
            for number, item in run:
                assert isinstance(item, OrderedUpdate), f"unexpected item: {kind}"
                answers[number] = await _answer(item, item_request(request, number))
    # The same message may have arrived twice concurrently. Then an item may have changed nothing, or been
    # refused, because of the commit of the other message.
    if all(isinstance(answer, Committed) for answer in answers.values()):
        return answers
    return answers | earlier_answers(await items_done_before(parts.log, request, items))


def _commands(items: Iterable[object]) -> dict[str, list[int]]:
    ids: dict[str, list[int]] = defaultdict(list)
    for item in items:
        if isinstance(item, ReportedCommand):
            ids[item.lab_controller].append(item.report.command_id)
    return ids


def _kind(item: RecipeItem | CommandItem | SystemUpdate | OrderedUpdate) -> Any:
    return Report if isinstance(item, Report) else type(item)


async def _resolved(
    parts: LabParts, items: Mapping[int, RecipeItem | ReportedCommand | SystemUpdate | OrderedUpdate]
) -> tuple[dict[int, RecipeItem | CommandItem | SystemUpdate | OrderedUpdate], dict[int, Answer]]:
    """Return the items (reports with effects as `SystemUpdate`), and answers for unknown commands."""
    resolved: dict[int, RecipeItem | CommandItem | SystemUpdate | OrderedUpdate] = {}
    unknown: dict[int, Answer] = {}
    commands: dict[int, dict[str, Any]] = {}
    for lab_controller, ids in _commands(items.values()).items():
        commands |= await commands_by_id(parts.reader, lab_controller, ids)
    for number, item in items.items():
        if not isinstance(item, ReportedCommand):
            resolved[number] = item
        elif (command := commands.get(item.report.command_id)) is None:
            unknown[number] = unknown_command(parts.reader, item.lab_controller, item.report.command_id)
        elif may_have_effects(command, item.report.state):
            commit = partial(report_on, parts, command=command, item=item.report)
            resolved[number] = SystemUpdate(f"system/{command['system']}", commit)
        else:
            resolved[number] = item.report
    return resolved, unknown


async def _commit_by_system(request: RequestContext, items: Mapping[int, SystemUpdate]) -> dict[int, Answer]:
    answers: dict[int, Answer] = {}
    numbers_of: dict[str, list[int]] = defaultdict(list)
    for number, item in items.items():
        numbers_of[item.subject].append(number)
    free = LockClass.LAB_ITEMS.task_semaphore(MAX_CONCURRENT_ITEMS)

    async def in_order(numbers: list[int]) -> None:
        async with free:
            for number in numbers:
                answers[number] = await _answer(items[number], item_request(request, number))

    await asyncio.gather(*map(in_order, numbers_of.values()))
    return answers


async def _answer(item: SystemUpdate | OrderedUpdate, request: RequestContext) -> Answer:
    """Commit an item. Raises FaultyInput if the key was used with another message."""
    try:
        done = await item.commit(request)
    except LabledgerError as error:
        return error
    if done is not None and done.repeated:
        require_same(request, done)
    return done


async def add_or_change_system(
    parts: WriteParts,
    request: RequestContext,
    lab_controller: str,
    change: NewSystemValues,
    document: dict[str, Any],
) -> Committed | None:
    """Change a system of the reporting lab controller, or register it with `document` if it is unknown.

    Return None if nothing changes. Raises the errors of `change_own_system` and `add_system`.
    """
    if parts.feed.directory.get("system", document["fqdn"]) is None:
        await parts.feed.catch_up()
    if parts.feed.directory.get("system", document["fqdn"]) is None:
        try:
            return await add_system(
                parts, request, lab_controller=lab_controller, change=change, document=document
            )
        except Refused:
            # Another request may have registered it. For any other reason, the change is refused as well.
            await parts.feed.catch_up()
    return await change_own_system(parts, request, lab_controller, document["fqdn"], change)


async def add_system(
    parts: WriteParts,
    request: RequestContext,
    lab_controller: str,
    change: NewSystemValues,
    document: dict[str, Any],
) -> Committed:
    """Register a system of the reporting lab controller, drained if the `change` says so.

    Raises the errors of `register_system`, and NotPermitted for a system of another lab or, unless the actor
    is an admin, of another owner.
    """
    _require_reporter(lab_controller, change)
    if document["pools"] and not request.is_admin:
        others = unknown_names(parts.feed.directory, {**document, "pools": []})
        where = "cannot be set here; use PUT /pools/{name}/systems/{fqdn}"
        raise FaultyInput([Fault("pools", where), *others])
    if document["owner"] != request.actor and not request.is_admin:
        raise NotPermitted(f"{lab_controller} may register only systems that {request.actor} owns")
    return await register_system(parts, request, document, change.reason if change.draining else None)


def _require_reporter(lab_controller: str, change: NewSystemValues) -> None:
    if change.lab_controller not in (None, lab_controller):
        raise NotPermitted(f"{lab_controller} cannot report systems of {change.lab_controller}")


async def change_own_system(
    parts: WriteParts, request: RequestContext, lab_controller: str, fqdn: str, change: NewSystemValues
) -> Committed | None:
    """Change a system of the reporting lab controller; return None if nothing changes.

    Raises the errors of `change_system`, and NotPermitted for a system of another lab, and for a new owner
    unless the actor is the present owner or an admin.
    """
    _require_reporter(lab_controller, change)

    def require_may(system: System) -> None:
        require_own_lab(lab_controller, system.subject, system.lab_controller)
        if change.owner not in (None, system.owner):
            require_may_give_away(parts.feed.directory, request, system)

    return await change_system(parts, request, fqdn, change, require_may)
