"""Registration and change of users, groups, pools, lab controllers and distro trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from api.use_cases.commit import append_for, commit_aggregates, commit_directory, wait_until_reflected
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.resolve import existing
from api.use_cases.rights import may_put, owned_by
from domain.directory.actors import is_user_name
from domain.directory.admins import require_admin_without
from domain.directory.changes import named_in, put, unknown_names
from domain.directory.partition_queues import PEOPLE, partitions_naming
from domain.directory.partitions import KIND, identities
from domain.directory.removal import remove_references
from domain.directory.roles import ADMIN
from domain.directory.state import Directory
from domain.errors import FaultyInput, Refused, Unknown, display_name
from domain.events import Decided
from domain.read_set import ReadSet
from domain.system_admin.policy import remove_system_references
from store.requests import AppendRequest, Committed


async def put_document(
    parts: WriteParts, request: RequestContext, kind: str, name: str, document: Mapping[str, Any]
) -> Committed | None:
    """Register or change an entry of the directory; return None if nothing changes.

    Raises FaultyInput for unknown names, NotPermitted as `rights.may_put` does, Stale, and Refused if no
    admin would be left, or if a configuration names a user or group that is new.
    """
    directory, subject = parts.feed.directory, f"{kind}/{name}"
    is_new = directory.get(kind, name) is None
    if unknown_names(kind, directory, document) or (
        is_new and (not request.is_admin or partitions_naming(directory, kind, name))
    ):
        await parts.feed.catch_up()

    def decide() -> AppendRequest | None:
        decided, versions = decide_put(parts, request, kind, name, document)
        return append_for(parts, request, decided, versions) if decided else None

    try:
        return await commit_directory(parts, request, subject, decide)
    except StaleReferences:
        await remove_stale_references(parts, request, kind, name)
        return await commit_directory(parts, request, subject, decide)


def decide_put(
    parts: WriteParts, request: RequestContext, kind: str, name: str, document: Mapping[str, Any]
) -> tuple[Decided, dict[str, int]]:
    """Return the events of a new document, none if nothing changes, and the versions that they depend on.

    Raises the errors of `put_document`, and StaleReferences.
    """
    directory = parts.feed.directory
    before = directory.get(kind, name)
    may_put(directory, request, kind, before, document)
    if faults := unknown_names(kind, directory, document):
        raise FaultyInput(faults)
    events = put(kind, before, document)
    if not events:
        return [], {}
    if before is None and parts.feed.visibility.referring_systems(kind, name):
        raise StaleReferences(kind, name)
    configured = _require_unnamed(directory, kind, name) if before is None else ()
    removed = remove_references(directory, kind, name) if before is None else ()
    decided = [*removed, *((f"{kind}/{name}", event) for event in events)]
    owners = owned_by(directory, request, name) if kind == "pool" else ()
    admins = _required_admins(directory, kind, name, document)
    changed = (each for each, _ in decided)
    used = (*changed, *named_in(kind, document), *admins, *owners, *configured)
    return decided, {each: directory.version(each) for each in used}


def _require_unnamed(directory: Directory, kind: str, name: str) -> tuple[str, ...]:
    """Return the subjects whose configurations do not name a user or group that is to be registered.

    Raises Refused if one does: it names an earlier user or group, whose rights the new one would inherit; and
    for a user with the name of a part of the service.
    """
    if kind == "user" and not is_user_name(name):
        raise Refused(f"{name} is the actor of changes by the service, so no user can have this name")
    if kind not in PEOPLE:
        return ()
    naming = partitions_naming(directory, kind, name)
    if naming:
        named = f"the configuration of {display_name(KIND, naming[0])} names {display_name(kind, name)}"
        raise Refused(f"{named}, which was removed; drop the name there first")
    return tuple(identity.subject for identity in identities(directory))


async def remove_stale_references(parts: WriteParts, request: RequestContext, kind: str, name: str) -> None:
    """Remove references of systems to a removed entry of the same name.

    A request concurrent to the removal may have added them. While the name is unused, nobody can add more.
    """
    fqdns = parts.feed.visibility.referring_systems(kind, name)

    def decide(gathered: ReadSet) -> Decided:
        systems = (gathered.system(fqdn) for fqdn in fqdns)
        return [
            change
            for system in systems
            if system is not None
            for change in remove_system_references(system, kind, name)
        ]

    # If-Match and the Idempotency-Key of the request do not apply to this commit.
    own_request = replace(request, expected=None, command_id=None)
    done = await commit_aggregates(parts, own_request, [f"system/{fqdn}" for fqdn in fqdns], decide)
    await wait_until_reflected(parts, done)


class StaleReferences(Exception):
    """Systems refer to a removed entry of the same name."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(display_name(kind, name))
        self.kind, self.name = kind, name


def _required_admins(
    directory: Directory, kind: str, name: str, document: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the subjects to check if a user loses the role of admin. Raises Refused for the last admin."""
    roles = document.get("roles") if kind == "user" else None
    return () if roles is None or ADMIN in roles else require_admin_without(directory, name)


async def change_lab_controller(
    parts: WriteParts, request: RequestContext, name: str, changes: Mapping[str, Any]
) -> Committed | None:
    """Apply `changes` to a lab controller; return None if nothing changes. Raises Unknown, Stale."""
    kind, subject = "lab-controller", f"lab-controller/{name}"
    await existing(parts.feed, kind, name)

    def decide() -> AppendRequest | None:
        entry = parts.feed.directory.get(kind, name)
        if entry is None:
            raise Unknown(display_name(kind, name))
        events = put(kind, entry, {**entry.document, **changes})
        if not events:
            return None
        decided = [(subject, event) for event in events]
        return append_for(parts, request, decided, {subject: entry.version})

    return await commit_directory(parts, request, subject, decide)
