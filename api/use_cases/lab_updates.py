"""What a lab controller tells in one message: progress of recipes, and what becomes of its systems."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from api.services import Request, Services
from api.use_cases.change_system import SystemChange, change_system
from api.use_cases.drafts import CommandItem, Item
from api.use_cases.keyed import part, parts_done_before, require_same
from api.use_cases.register_system import register_system
from api.use_cases.report_command import moves_more, not_told, report_on, told
from api.use_cases.report_progress import Answer, answers_kept, report_progress
from api.use_cases.rights import require_own_lab
from api.use_cases.system_rights import require_may_give_away
from domain.errors import Fault, FaultyInput, LabledgerError, NotPermitted, Refused
from domain.system.state import System
from domain.upkeep.registration import unknown_names
from store.requests import Committed

# So many items are under way at once; more would only wait for a database session.
AT_ONCE = 16


Take = Callable[[Request], Awaitable[Committed | None]]
"""With the request that the item is one of: under an Idempotency-Key each has a key of its own."""


@dataclass(frozen=True)
class Told:
    """An item that is a commit of its own: the system it is about, and what takes it."""

    about: str
    take: Take


@dataclass(frozen=True)
class Released:
    """The same for a recipe that leaves a system, whichever that is."""

    take: Take


@dataclass(frozen=True)
class Reported:
    """How far a command is that this lab controller was told."""

    lab_controller: str
    report: CommandItem


Report = Item | CommandItem


async def take_updates(
    services: Services,
    request: Request,
    lab_controller: str | None,
    items: Mapping[int, Item | Reported | Told | Released],
) -> dict[int, Answer]:
    """Take items in the order given, each with its own answer; those about different things go side by side.

    Reports that come together are taken together. `lab_controller` is the one that reports it, None for an
    admin. Items are given and answered by their numbers in the message. Under an Idempotency-Key what was
    taken before is not taken again (`keyed.part`): its answer is the first one. What changed nothing, or was
    refused alone, is looked at anew. Raises FaultyInput for a key that came with another message.
    """
    done = await parts_done_before(services, request, items)
    answers = answers_kept(done)
    todo, unknown = await _known(services, {n: item for n, item in items.items() if n not in answers})
    answers |= unknown
    for kind, run in groupby(todo.items(), key=lambda numbered: _kind(numbered[1])):
        if kind is Report:
            reports = {number: item for number, item in run if isinstance(item, Report)}
            taken = await report_progress(
                services, request, lab_controller, list(reports.values()), list(reports)
            )
            answers.update(zip(reports, taken, strict=True))
        elif kind is Told:
            alone = {number: item for number, item in run if isinstance(item, Told)}
            answers.update(await _side_by_side(request, alone))
        else:
            # A system that is drained before its recipe leaves it must be drained when it does.
            for number, item in run:
                assert isinstance(item, Released), f"{kind} is no item"
                answers[number] = await _answer(item, part(request, number))
    # The same message may have come twice at once: then nothing is left to do, or it is refused for what the
    # other has just done, whose commit may bear the number of another item.
    if all(isinstance(answer, Committed) for answer in answers.values()):
        return answers
    return answers | answers_kept(await parts_done_before(services, request, items))


def _commands(items: Iterable[object]) -> dict[str, list[int]]:
    """The ids of those that are reported on, by who does."""
    found: dict[str, list[int]] = defaultdict(list)
    for item in items:
        if isinstance(item, Reported):
            found[item.lab_controller].append(item.report.command_id)
    return found


def _kind(item: Item | CommandItem | Told | Released) -> Any:
    return Report if isinstance(item, Report) else type(item)


async def _known(
    services: Services, items: Mapping[int, Item | Reported | Told | Released]
) -> tuple[dict[int, Item | CommandItem | Told | Released], dict[int, Answer]]:
    """Commands by what they are for: most change nothing else. Those nobody was told have their answer."""
    known: dict[int, Item | CommandItem | Told | Released] = {}
    unknown: dict[int, Answer] = {}
    commands: dict[int, dict[str, Any]] = {}
    for lab_controller, ids in _commands(items.values()).items():
        commands |= await told(services, lab_controller, ids)
    for number, item in items.items():
        if not isinstance(item, Reported):
            known[number] = item
        elif (command := commands.get(item.report.command_id)) is None:
            unknown[number] = not_told(services, item.lab_controller, item.report.command_id)
        elif moves_more(command, item.report.state):
            take = partial(report_on, services, command=command, item=item.report)
            known[number] = Told(f"system/{command['system']}", take)
        else:
            known[number] = item.report
    return known, unknown


async def _side_by_side(request: Request, items: Mapping[int, Told]) -> dict[int, Answer]:
    answers: dict[int, Answer] = {}
    of_subject: dict[str, list[int]] = defaultdict(list)
    for number, item in items.items():
        of_subject[item.about].append(number)
    free = asyncio.Semaphore(AT_ONCE)

    async def in_order(numbers: list[int]) -> None:
        async with free:
            for number in numbers:
                answers[number] = await _answer(items[number], part(request, number))

    await asyncio.gather(*map(in_order, of_subject.values()))
    return answers


async def _answer(item: Told | Released, request: Request) -> Answer:
    """Raises FaultyInput where another message with this key was first."""
    try:
        done = await item.take(request)
    except LabledgerError as error:
        return error
    if done is not None and done.repeated:
        require_same(request, done)
    return done


async def add_or_change_system(
    services: Services,
    request: Request,
    lab_controller: str,
    change: SystemChange,
    document: dict[str, Any],
) -> Committed | None:
    """A system its lab controller tells of: `document` is how it is registered if nobody knows it yet.

    None when all of it is known. Raises what `change_system` and `register_system` do, and NotPermitted for
    a new system of somebody else than the user of the request: only admins say who owns a system.
    """
    if change.lab_controller not in (None, lab_controller):
        raise NotPermitted(f"this is the message of {lab_controller}, not of {change.lab_controller}")
    if services.feed.directory.get("system", document["fqdn"]) is None:
        await services.feed.catch_up()
    if services.feed.directory.get("system", document["fqdn"]) is None:
        if document["pools"] and not request.is_admin:
            others = unknown_names(services.feed.directory, {**document, "pools": []})
            where = "are changed where they are: /pools/{name}/systems/{fqdn}"
            raise FaultyInput([Fault("pools", where), *others])
        if document["owner"] != request.actor and not request.is_admin:
            told = f"{lab_controller} registers systems of {request.actor}: an admin gives them another owner"
            raise NotPermitted(told)
        try:
            return await register_system(services, request, document)
        except Refused:
            # Somebody has told the same meanwhile, unless it is refused for another reason again.
            await services.feed.catch_up()
    return await change_own_system(services, request, lab_controller, document["fqdn"], change)


async def change_own_system(
    services: Services, request: Request, lab_controller: str, fqdn: str, change: SystemChange
) -> Committed | None:
    """Raise the errors of `change_system`, and NotPermitted for a system of another lab.

    A new owner is also NotPermitted unless the present owner asks.
    """

    def may(system: System) -> None:
        require_own_lab(lab_controller, system.subject, system.lab_controller)
        if change.owner not in (None, system.owner):
            require_may_give_away(services, request, system)

    return await change_system(services, request, fqdn, change, may)
