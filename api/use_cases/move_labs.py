"""Moves of labs from one partition to another, with all of their systems."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from api.use_cases.commit import append_for
from api.use_cases.ports import RequestContext, WriteParts
from domain.directory.partition_labs import LabMove, move_labs
from domain.directory.partitions import LAB, identities, systems_of_lab
from domain.events import Decided, subject
from domain.system.state import System
from store.requests import AppendRequest


class Moving(NamedTuple):
    """The events of moves, and the versions on which they depend.

    They are in conflict with a system that joins any lab after the position `seen`.
    """

    decided: Decided
    versions: Mapping[str, int]
    seen: int


async def moving(
    parts: WriteParts, moves: Sequence[LabMove], named: Collection[str] = (), *, seen: int
) -> Moving | None:
    """Return the moves of labs when a configuration begins or ceases to name some; None if it does not.

    `named` are the labs that it names then, which may be there already; `seen` is the position of the
    directory that all is based on. The versions of all partitions count, because no other configuration may
    name the labs meanwhile. Raises Refused while a lab is not free to leave.
    """
    directory = parts.feed.directory
    if not moves and not named:
        return None
    subjects = [
        *(subject(LAB, lab) for lab in dict.fromkeys((*named, *(move.lab for move in moves)))),
        *(partition.subject for partition in identities(directory)),
    ]
    versions = {each: directory.version(each) for each in subjects}
    fqdns = [fqdn for move in moves for fqdn in systems_of_lab(directory, move.lab)]
    found = await asyncio.to_thread(parts.aggregates.load, [subject("system", fqdn) for fqdn in fqdns])
    systems = [state for state in found.values() if isinstance(state, System)]
    versions |= {system.subject: system.version for system in systems}
    return Moving(move_labs(directory, moves, systems), versions, seen)


def append_with(
    parts: WriteParts,
    request: RequestContext,
    decided: Decided,
    versions: Mapping[str, int],
    labs: Moving | None,
) -> AppendRequest:
    """Return the append of decided events of a partition, and of the moves of its labs."""
    if labs is None:
        return append_for(parts, request, decided, versions)
    append = append_for(parts, request, [*decided, *labs.decided], {**labs.versions, **versions})
    return replace(append, joins_seen=labs.seen) if labs.decided else append
