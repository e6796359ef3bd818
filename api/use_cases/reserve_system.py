"""Reservation and return of a system by a person."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from api.use_cases.commit import append_for, commit, commit_aggregates, require_expected
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.resolve import present_system, user_and_end_faults
from api.use_cases.system_rights import (
    require_may_reserve,
    require_may_return,
    require_viewed,
    rights_subjects,
)
from domain.directory.state import Directory, DirectoryEntry
from domain.endings import with_reason
from domain.errors import Fault, FaultyInput, NotPermitted, Unknown, display_name, unknown_name
from domain.events import Decided
from domain.read_set import ReadSet
from domain.rfc3339 import rfc3339
from domain.system.state import Reservation, System
from domain.system_admin.reservation import end, require_lab, reserve
from store.requests import AppendRequest, Committed


@dataclass(frozen=True)
class ReservationRequest:
    """A requested reservation, without end if `until` is None. A distro tree is provisioned first."""

    user: str
    until: datetime | None
    distro_tree_id: int | None


async def reserve_system(
    parts: WriteParts, request: RequestContext, fqdn: str, wanted: ReservationRequest
) -> Committed | None:
    """Reserve a system; return None if the same reservation exists.

    Raises FaultyInput for unknown names and a past time, Unknown, NotPermitted for a caller who may
    not have the system, or who reserves for others and is no admin, and Refused for a system that cannot be
    reserved, is in a disabled lab or in one without a partition, or cannot install the tree.
    """
    if wanted.user != request.actor and not request.is_admin:
        raise NotPermitted("only an admin may reserve a system for others")
    if _faults(parts, wanted):
        await parts.feed.catch_up()
    return await commit(parts, lambda: _reserve(parts, request, fqdn, wanted))


async def _reserve(
    parts: WriteParts, request: RequestContext, fqdn: str, wanted: ReservationRequest
) -> AppendRequest | None:
    directory, subject, user = parts.feed.directory, f"system/{fqdn}", f"user/{wanted.user}"
    requested = Reservation(wanted.user, wanted.until, wanted.distro_tree_id)
    # A concurrent removal of the user or the distro tree has to be a conflict.
    named = {user: directory.version(user)}
    if faults := _faults(parts, wanted):
        raise FaultyInput(faults)
    tree = _tree(directory, requested.distro_tree_id)
    if tree is not None:
        named[f"distro-tree/{requested.distro_tree_id}"] = tree.version
    system = (await asyncio.to_thread(parts.aggregates.load, [subject])).get(subject)
    if not isinstance(system, System):
        raise Unknown(display_name("system", fqdn))
    require_viewed(directory, request, system)
    require_may_reserve(directory, system, requested.user)
    lab = f"lab-controller/{system.lab_controller}"
    # Concurrent disabling of the lab, or its move to another partition, has to be a conflict, too.
    named[lab] = directory.version(lab)
    named |= {other: directory.version(other) for other in rights_subjects(directory, system, requested.user)}
    require_expected(request, subject, system.version)
    if system.reservation == requested:
        return None
    require_lab(system, requested.distro_tree_id, directory)
    until = None if requested.until is None else rfc3339(requested.until)
    decided = reserve(system, requested.user, until, requested.distro_tree_id)
    return append_for(parts, request, decided, {subject: system.version, **named})


def _tree(directory: Directory, tree_id: int | None) -> DirectoryEntry | None:
    return None if tree_id is None else directory.get("distro-tree", str(tree_id))


def _faults(parts: WriteParts, wanted: ReservationRequest) -> list[Fault]:
    faults = user_and_end_faults(parts, wanted.user, wanted.until)
    if wanted.distro_tree_id is not None and _tree(parts.feed.directory, wanted.distro_tree_id) is None:
        faults.append(Fault("distro_tree", unknown_name("distro-tree", wanted.distro_tree_id)))
    return faults


async def return_system(
    parts: WriteParts, request: RequestContext, fqdn: str, reason: str | None = None
) -> Committed | None:
    """End a reservation; None if there is none. Raises Unknown, NotPermitted for that of another user."""
    why = with_reason(f"returned by {request.actor}", reason)

    def decide(gathered: ReadSet) -> Decided:
        system = present_system(gathered, fqdn)
        require_viewed(parts.feed.directory, request, system)
        if system.reservation is not None:
            require_may_return(parts.feed.directory, request, system)
        return end(system, why)

    def also_read(gathered: ReadSet) -> Iterator[str]:
        return rights_subjects(parts.feed.directory, present_system(gathered, fqdn), request.actor)

    return await commit_aggregates(parts, request, (f"system/{fqdn}",), decide, also_read)
