"""The events for PUT requests of directory entries, each with a whole new document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from domain.directory import events as directory_events
from domain.directory.documents import MAX_EXTENSION_SECONDS, document_after
from domain.directory.roles import ROLES, SUBMITTER
from domain.directory.state import Directory, DirectoryEntry
from domain.errors import Fault, unknown_name
from domain.events import Event
from domain.system.failures import BROKEN_AFTER

Document = Mapping[str, Any]

# The event of the first document of an entry, and that of every later one, by kind.
_DOCUMENT_EVENTS: dict[str, tuple[type[Event], type[Event]]] = {
    "user": (directory_events.UserRegistered, directory_events.UserChanged),
    "group": (directory_events.GroupRegistered, directory_events.GroupChanged),
    "pool": (directory_events.PoolRegistered, directory_events.PoolChanged),
    "distro-tree": (directory_events.DistroTreeRegistered, directory_events.DistroTreeChanged),
}


def put(kind: str, before: DirectoryEntry | None, document: Document) -> list[Event]:
    """Return the events that change an entry to `document` (`before` is None: create), none if equal."""
    if kind == "lab-controller":
        return _lab_controller(before, document)
    event = _put(kind, before, document)
    return [] if event is None else [event]


def _put(kind: str, before: DirectoryEntry | None, document: Document) -> Event | None:
    if kind == "user":
        document = _user(before, document)
    first, later = _DOCUMENT_EVENTS[kind]
    event = (first if before is None else later)(**document)
    if before is not None and document_after(before.document, event) == before.document:
        return None
    return event


def _user(before: DirectoryEntry | None, document: Document) -> Document:
    """Return the document with roles: without them, a user keeps the present ones or gets `submitter`."""
    fields = {name: value for name, value in document.items() if name != "roles"}
    if (roles := document.get("roles")) is not None:
        return {**fields, "roles": list(dict.fromkeys(roles))}
    return {**fields, "roles": [SUBMITTER] if before is None else before.document["roles"]}


def _lab_controller(before: DirectoryEntry | None, document: Document) -> list[Event]:
    """Return the events of a lab controller; it keeps the limits that the document does not have.

    The document may have the `reason` why an existing one is disabled.
    """
    broken_after = document.get("broken_after")
    if before is None:
        limit = BROKEN_AFTER if broken_after is None else broken_after
        registered = directory_events.LabControllerRegistered(
            document["enabled"], broken_after=limit, silent=True
        )
        return [registered, *_max_extension({}, document)]
    events = _max_extension(before.document, document)
    if broken_after not in (None, before.document.get("broken_after", BROKEN_AFTER)):
        events.append(directory_events.LabControllerChanged(broken_after=broken_after))
    if before.document["enabled"] != document["enabled"]:
        disabled = directory_events.LabControllerDisabled(reason=document.get("reason"))
        events.append(directory_events.LabControllerEnabled() if document["enabled"] else disabled)
    return events


def _max_extension(before: Document, document: Document) -> list[Event]:
    """Return the event of another maximum of extensions, none if the document does not have one."""
    seconds = document.get("max_extension_seconds")
    if seconds in (None, before.get("max_extension_seconds", MAX_EXTENSION_SECONDS)):
        return []
    return [directory_events.LabControllerExtensionsLimited(max_extension_seconds=seconds)]


def _roles(directory: Directory, document: Document) -> list[Fault]:
    return [
        Fault(f"roles[{number}]", unknown_role(role))
        for number, role in enumerate(document.get("roles") or ())
        if role not in ROLES
    ]


def unknown_role(role: str) -> str:
    return f'there is no role "{role}"; the roles are {", ".join(ROLES)}'


def _users(directory: Directory, document: Document) -> list[Fault]:
    return [
        Fault(f"{field}[{number}]", unknown_name("user", name))
        for field in ("owners", "members")
        for number, name in enumerate(document[field])
        if directory.get("user", name) is None
    ]


def _owner_group(directory: Directory, document: Document) -> list[Fault]:
    group = document["owner_group"]
    if group is None or directory.get("group", group) is not None:
        return []
    return [Fault("owner_group", unknown_name("group", group))]


def _labs(directory: Directory, document: Document) -> list[Fault]:
    return [
        Fault(f"urls.{name}", unknown_name("lab-controller", name))
        for name in document["urls"]
        if directory.get("lab-controller", name) is None
    ]


def _nothing(directory: Directory, document: Document) -> list[Fault]:
    return []


_NAMES: dict[str, Callable[[Directory, Document], list[Fault]]] = {
    "user": _roles,
    "group": _users,
    "pool": _owner_group,
    "distro-tree": _labs,
}


def unknown_names(kind: str, directory: Directory, document: Document) -> list[Fault]:
    return _NAMES.get(kind, _nothing)(directory, document)


def named_in(kind: str, document: Document) -> list[str]:
    """Return the users or the group in a group or pool document, which the commit must find unchanged."""
    if kind == "group":
        return [f"user/{name}" for name in dict.fromkeys((*document["owners"], *document["members"]))]
    if kind == "pool" and document["owner_group"] is not None:
        return [f"group/{document['owner_group']}"]
    return []
