"""A user, group, pool, lab controller or distro tree is given as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from api.services import Request, Services
from api.use_cases.commit import append_of, commit_gathered, commit_named
from api.use_cases.rights import may_put, owned_by
from domain.directory.admins import require_admin_without
from domain.directory.changes import named_in, put, unknown_names
from domain.directory.removal import left_behind
from domain.directory.roles import ADMIN
from domain.directory.state import Directory
from domain.errors import FaultyInput
from domain.events import Decided
from domain.gathered import Gathered
from domain.upkeep.policy import part_with
from store.requests import Append, Committed


async def put_document(
    services: Services, request: Request, kind: str, name: str, document: Mapping[str, Any]
) -> Committed | None:
    """Make the document true; None when it is already.

    Raises FaultyInput for names nobody knows, NotPermitted for who may not (`rights.may_put`), Stale, and
    Refused for what would leave no admin.
    """
    directory, subject = services.feed.directory, f"{kind}/{name}"
    if unknown_names(kind, directory, document) or (
        directory.get(kind, name) is None and not request.is_admin
    ):
        await services.feed.catch_up()

    def decide() -> Append | None:
        before = directory.get(kind, name)
        may_put(services, request, kind, before, document)
        if faults := unknown_names(kind, directory, document):
            raise FaultyInput(faults)
        events = put(kind, before, document)
        if not events:
            return None
        if before is None and services.feed.accesses.left_to(kind, name):
            raise _LeftByNamesake
        left = left_behind(directory, kind, name) if before is None else ()
        decided = [*left, *((subject, event) for event in events)]
        owners = owned_by(services, request, name) if kind == "pool" else ()
        others = (*named_in(kind, document), *_rests_on(directory, kind, name, document), *owners)
        versions = {other: directory.version(other) for other in (*(one for one, _ in decided), *others)}
        return append_of(services, request, decided, versions)

    try:
        return await commit_named(services, request, subject, decide)
    except _LeftByNamesake:
        await _part_with_namesake(services, request, kind, name)
        return await commit_named(services, request, subject, decide)


async def _part_with_namesake(services: Services, request: Request, kind: str, name: str) -> None:
    """What systems say of who had the name before, because it was said in the moment of the removal.

    While nobody has the name, nobody is named: nothing comes to it between this commit and the next.
    """
    fqdns = services.feed.accesses.left_to(kind, name)

    def decide(gathered: Gathered) -> Decided:
        systems = (gathered.system(fqdn) for fqdn in fqdns)
        return [
            change for system in systems if system is not None for change in part_with(system, kind, name)
        ]

    # Neither its version nor its key is that of what is put.
    apart = replace(request, expected=None, command_id=None)
    done = await commit_gathered(services, apart, [f"system/{fqdn}" for fqdn in fqdns], decide)
    if done is not None:
        await services.feed.reach(done.position)


class _LeftByNamesake(Exception):
    """Systems say something still of who had the name before."""


def _rests_on(directory: Directory, kind: str, name: str, document: Mapping[str, Any]) -> tuple[str, ...]:
    """Raises Refused for what would leave no admin."""
    roles = document.get("roles") if kind == "user" else None
    return () if roles is None or ADMIN in roles else require_admin_without(directory, name)
