"""Registration of a lab controller: its systems, and the recipes that run on them (design 6)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from api.use_cases.commit import append_for, commit_directory
from api.use_cases.lab_updates import Item, SystemUpdate, take_updates
from api.use_cases.ports import RegistrationParts, RequestContext
from api.use_cases.recover import end_unreported
from api.use_cases.report_progress import Answer
from domain.directory.partitions import identity_of, number_of_lab
from domain.directory.rejections import rejected_after, rejection
from domain.directory.state import Directory
from domain.errors import LabledgerError, Refused, Unknown
from domain.events import subject
from store.registrations import PartContents
from store.requests import AppendRequest


@dataclass(frozen=True)
class RegistrationPart:
    """A part of a registration; items have their numbers in the part.

    `instance` names the start of the lab controller, `partition` is the one that it believes in. `faulty` has
    the answers to items with faults. `system_of_item` has the system that each item names, `systems` those of
    valid items that add or change a system. After the last part nothing else runs in the lab.
    """

    instance: str
    partition: str
    items: Mapping[int, Item]
    faulty: Mapping[int, Answer]
    system_of_item: Mapping[int, str | None]
    systems: Mapping[int, str]
    running: Sequence[tuple[str, int]]
    digest: bytes
    is_last: bool


async def take_part(
    parts: RegistrationParts,
    request: RequestContext,
    lab_controller: str,
    reporter: str | None,
    part: RegistrationPart,
) -> dict[int, Answer]:
    """Take a part of a registration; return the answer of each item.

    `reporter` is the lab controller, None for an admin. After the last part, recipes are aborted that the log
    has as installing or later and that the registration does not name, and occupied systems are vacated on
    which nothing runs. Raises Refused for a part of an instance that was replaced, and NotYetFolded if the
    read models have not reached the end of the log in time.
    """
    await parts.feed.catch_up()
    wrong = _wrong_partition(parts.feed.directory, lab_controller, part.partition)
    if wrong is not None:
        await _note(parts, lab_controller, part.instance, PartContents(part.digest, (), ()))
        answers = {**part.faulty, **dict.fromkeys(part.items, wrong)}
    else:
        answers = {**part.faulty, **await _take_items(parts, request, lab_controller, reporter, part)}
    await _append_rejections(parts, request, lab_controller, part, answers)
    if part.is_last and wrong is None:
        await _end_unreported(parts, request, lab_controller, part.instance)
    return answers


async def _take_items(
    parts: RegistrationParts,
    request: RequestContext,
    lab_controller: str,
    reporter: str | None,
    part: RegistrationPart,
) -> dict[int, Answer]:
    contents = PartContents(part.digest, list(part.systems.values()), part.running)
    twice = _named_twice(part.systems, await _note(parts, lab_controller, part.instance, contents))
    todo = {number: item for number, item in part.items.items() if number not in twice}
    return {**twice, **await take_updates(parts, request, reporter, todo)}


async def _note(
    parts: RegistrationParts, lab_controller: str, instance: str, contents: PartContents
) -> frozenset[str]:
    """Note a part; return the systems that another part named. Raises Refused for a replaced instance."""
    noted = await asyncio.to_thread(parts.registrations.note, lab_controller, instance, contents)
    if noted.replaced_by is not None:
        raise Refused(
            f"registration {instance} was replaced by {noted.replaced_by};"
            " a new start of the lab controller needs a new instance"
        )
    return noted.named_twice


async def _append_rejections(
    parts: RegistrationParts,
    request: RequestContext,
    lab_controller: str,
    part: RegistrationPart,
    answers: Mapping[int, Answer],
) -> None:
    """Append the rejections that the log does not have yet, for `/reconciliations`."""
    name, directory = subject("lab-controller", lab_controller), parts.feed.directory
    rejected = [
        # The text of Unknown is the name of the thing alone.
        rejection(part.system_of_item[number], answer.title if isinstance(answer, Unknown) else str(answer))
        for number, answer in sorted(answers.items())
        if isinstance(answer, LabledgerError)
    ]

    def decide() -> AppendRequest | None:
        entry = directory.get("lab-controller", lab_controller)
        document = {} if entry is None else entry.document
        event = rejected_after(document, part.instance, rejected, is_last=part.is_last)
        versions = {name: directory.version(name)}
        return append_for(parts, unkeyed, [(name, event)], versions) if event and entry else None

    unkeyed = replace(request, command_id=None, expected=None)
    await commit_directory(parts, unkeyed, name, decide)


def _wrong_partition(directory: Directory, lab_controller: str, believed: str) -> Refused | None:
    number = number_of_lab(directory, lab_controller)
    identity = identity_of(directory, believed)
    if identity is not None and identity.number == number:
        return None
    own = directory.partition_names.get(number)
    where = f"in partition {own}" if own else "in no partition"
    return Refused(f"lab controller {lab_controller} is {where}, not in {believed}")


def _named_twice(systems: Mapping[int, str], before: frozenset[str]) -> dict[int, Answer]:
    """Return the answers to items that name a system again, in this part or after another one."""
    answers: dict[int, Answer] = {}
    seen = set(before)
    for number, fqdn in systems.items():
        if fqdn in seen:
            answers[number] = Refused(f"system {fqdn} is named twice in this registration")
        seen.add(fqdn)
    return answers


async def _end_unreported(
    parts: RegistrationParts, request: RequestContext, lab_controller: str, instance: str
) -> None:
    """Abort the recipes that do not run any more, and vacate the systems on which nothing runs.

    Nothing is ended if a later instance has begun meanwhile: its own last part does that.
    """
    end = await asyncio.to_thread(parts.log.end)
    await parts.reader.reach(end, parts.max_waits.position_wait_seconds)
    registered = await asyncio.to_thread(parts.registrations.running, lab_controller, instance)
    if registered is None:
        return
    running = defaultdict[str, list[int]](list)
    for fqdn, recipe_id in registered:
        running[fqdn].append(recipe_id)
    rows = await parts.reader.rows("uses_in_lab", {"lab_controller": lab_controller, "at": end})
    updates: dict[int, Item] = {}
    for number, fqdn in enumerate(row["fqdn"] for row in rows):
        commit = partial(end_unreported, parts, fqdn=fqdn, running=running[fqdn])
        updates[number] = SystemUpdate(f"system/{fqdn}", commit)
    unkeyed = replace(request, command_id=None)
    for answer in (await take_updates(parts, unkeyed, None, updates)).values():
        if isinstance(answer, Exception):
            raise answer
