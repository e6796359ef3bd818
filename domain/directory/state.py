"""The directory: users, groups, pools, lab controllers, distro trees, tokens, systems and partitions.

The HTTP API and the scheduler fold it from the log. It has no recipes, so its size depends only on the size
of the lab.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.directory import events as directory_events
from domain.directory.credentials import Credentials
from domain.directory.documents import MAX_EXTENSION_SECONDS, Document, document_after
from domain.directory.membership import FormerMembers, PoolSystems
from domain.directory.name_index import NameIndex
from domain.directory.roles import ROLES, SUBMITTER
from domain.events import TOPICS, Event, Recorded, split_subject
from domain.partition_numbers import DEFAULT_NUMBER, DEFAULT_PARTITION
from domain.system.events import SystemInventoryChanged, SystemLabControllerChanged, SystemRegistered
from domain.system.failures import BROKEN_AFTER

FOLDED_EVENTS: tuple[type[Event], ...] = tuple(
    event
    for event in TOPICS.values()
    if issubclass(
        event,
        (
            directory_events.DirectoryEvent,
            SystemRegistered,
            SystemInventoryChanged,
            SystemLabControllerChanged,
        ),
    )
)


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """`version` is the aggregate's, continued after a removal, `since` the position of the registration."""

    version: int
    document: Document
    since: int
    removed: bool = False


def people_of(group: Document) -> tuple[str, ...]:
    """Return the users in a group, by its document; none in a removed group."""
    return *group.get("owners", ()), *group.get("members", ())


class Directory:
    """Mutable: `apply` the events of the log in order, then query.

    `partition_names` has the names of all partitions that ever existed, by number.
    """

    def __init__(self) -> None:
        self.credentials = Credentials()
        self._entries: dict[str, dict[str, DirectoryEntry]] = {}
        self._pools = PoolSystems()
        self.former_members = FormerMembers()
        self.partition_names: dict[int, str] = {DEFAULT_NUMBER: DEFAULT_PARTITION.name}
        self._folded: dict[str, str] = {}
        self._keys: dict[str, None] = {}
        self._arches: dict[str, None] = {}
        self._power_types: dict[str, None] = {}
        self._name_index: NameIndex | None = None

    def apply(self, recorded: Recorded) -> None:
        """Apply an event; ignore events that are not `FOLDED_EVENTS`."""
        event = recorded.event
        kind, name = split_subject(recorded.subject)
        if isinstance(event, SystemRegistered | SystemInventoryChanged):
            self._collect_names(event)
        elif not isinstance(event, directory_events.DirectoryEvent | SystemLabControllerChanged):
            return
        if kind == "system":
            self._folded[name.casefold()] = name
        entries = self._entries.setdefault(kind, {})
        before = entries.get(name)
        document = document_after(before.document if before else {}, event)
        since = recorded.position if before is None or before.removed else before.since
        entries[name] = DirectoryEntry(
            recorded.version, document, since, isinstance(event, directory_events.REMOVED)
        )
        for token_id in self.credentials.apply(name, recorded):
            del self._entries["token"][token_id]
        self._pools.apply(name, event)
        if isinstance(event, directory_events.PartitionCreated):
            self.partition_names[event.number] = name
        if kind == "group":
            self.former_members.changed(
                name, people_of(before.document if before else {}), people_of(document)
            )
        self._name_index = None

    def plain(self) -> dict[str, Any]:
        """Return the whole state as plain values, for `restore`."""
        return {
            "entries": {
                kind: {
                    name: [entry.version, entry.document, entry.since, entry.removed]
                    for name, entry in entries.items()
                }
                for kind, entries in self._entries.items()
            },
            # The key in snapshots.
            "access": self.credentials.plain(),
            "pools": self._pools.plain(),
            "leavers": self.former_members.plain(),
            "partition_names": [[number, name] for number, name in self.partition_names.items()],
            "keys": list(self._keys),
            "arches": list(self._arches),
            "power_types": list(self._power_types),
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        self._entries = {
            kind: {name: DirectoryEntry(*entry) for name, entry in entries.items()}
            for kind, entries in values["entries"].items()
        }
        self.credentials.restore(values["access"])
        self._pools.restore(values["pools"])
        self.former_members.restore(values["leavers"])
        self.partition_names = dict(values["partition_names"])
        self._folded = {name.casefold(): name for name, _ in self.items("system")}
        self._keys = dict.fromkeys(values["keys"])
        self._arches = dict.fromkeys(values["arches"])
        self._power_types = dict.fromkeys(values["power_types"])
        self._name_index = None

    def forget(self, subject: str) -> None:
        """Drop the version of a removed entry. Only a process that registers no names may do this."""
        kind, name = split_subject(subject)
        entry = self._entries.get(kind, {}).get(name)
        if entry is not None and entry.removed:
            del self._entries[kind][name]
            if kind == "pool":
                self._pools.forget(name)

    def people_of(self, group: str) -> tuple[str, ...]:
        """Return the users in a group, none if there is no such group."""
        entry = self.get("group", group)
        return () if entry is None else people_of(entry.document)

    def get(self, kind: str, name: str) -> DirectoryEntry | None:
        """Return the entry of this name, None if there is none or it was removed."""
        entry = self._entries.get(kind, {}).get(name)
        return None if entry is None or entry.removed else entry

    def drop(self, kind: str, name: str) -> None:
        """Drop an entry, to read its events again from the first."""
        self._entries.get(kind, {}).pop(name, None)

    def version(self, subject: str) -> int:
        """Return the version of the present or removed entry; 0 if there was none, or if it was dropped."""
        kind, name = split_subject(subject)
        entry = self._entries.get(kind, {}).get(name)
        return entry.version if entry else 0

    def had(self, kind: str, name: str, position: int) -> bool:
        """Return whether the present entry of this name was already registered at a position."""
        entry = self.get(kind, name)
        return entry is not None and entry.since <= position

    def counts_for_group(self, group: str, user: str) -> bool:
        """Return whether a submission of a user on behalf of a group still counts for the group.

        It does not if the user has left the group, or if the group was removed. It does for a user who was
        never in the group, because an admin may name any group.
        """
        entry = self._entries.get("group", {}).get(group)
        is_removed = entry is not None and entry.removed
        return not is_removed and not self.former_members.has_left(group, user)

    def items(self, kind: str) -> Iterator[tuple[str, DirectoryEntry]]:
        """Yield the entries that `get` returns."""
        for name, entry in self._entries.get(kind, {}).items():
            if not entry.removed:
                yield name, entry

    def pool_has(self, pool: str, system: str) -> bool:
        return self._pools.has(pool, system)

    def systems_of(self, pool: str) -> tuple[str, ...]:
        """Return the systems of a pool, in the order in which they joined."""
        return self._pools.systems_of(pool)

    def pools_of(self, system: str) -> tuple[str, ...]:
        """Return the pools of a system, in the order in which it joined them."""
        return self._pools.pools_of(system)

    def system_called(self, fqdn: str) -> str | None:
        """Return the FQDN of a system as registered, from a name in any case; None if unknown."""
        return self._folded.get(fqdn.casefold())

    def is_enabled(self, lab_controller: str) -> bool:
        entry = self.get("lab-controller", lab_controller)
        return entry is not None and bool(entry.document["enabled"])

    def is_silent(self, lab_controller: str) -> bool:
        """Return whether a lab controller has stopped reporting, or has never been heard."""
        entry = self.get("lab-controller", lab_controller)
        return entry is not None and bool(entry.document.get("silent"))

    def is_serving(self, lab_controller: str) -> bool:
        """Return whether the systems of the lab may get recipes."""
        return self.is_enabled(lab_controller) and not self.is_silent(lab_controller)

    def broken_after(self, lab_controller: str | None) -> int:
        """Return the `broken_after` limit of a lab (`Failures.reach`), the default for an unknown lab."""
        entry = None if lab_controller is None else self.get("lab-controller", lab_controller)
        return BROKEN_AFTER if entry is None else int(entry.document.get("broken_after", BROKEN_AFTER))

    def max_extension_seconds(self, lab_controller: str | None) -> int:
        """Return by how much people may extend a recipe, reservation or loan of a lab in all."""
        entry = None if lab_controller is None else self.get("lab-controller", lab_controller)
        document = {} if entry is None else entry.document
        return int(document.get("max_extension_seconds", MAX_EXTENSION_SECONDS))

    def trees(self) -> Iterator[tuple[int, Document]]:
        return ((int(name), entry.document) for name, entry in self.items("distro-tree"))

    def token(self, digest: str, now: datetime) -> tuple[str, Document] | None:
        """Return the id and document of the token with this digest, None if it is not valid now."""
        token_id = self.credentials.token_id(digest)
        if token_id is None or not self.is_valid_token(token_id, now):
            return None
        return token_id, self._entries["token"][token_id].document

    def is_valid_token(self, token_id: str, now: datetime) -> bool:
        """Return whether a token is valid: not expired, not revoked, and its user has its role."""
        entry = self.get("token", token_id)
        if entry is None:
            return False
        token = entry.document
        if token["role"] not in self.roles_of(token["user"]):
            return False
        end = token["expires_at"]
        return end is None or now < datetime.fromisoformat(end)

    def tokens_of(self, user: str) -> Iterator[tuple[str, DirectoryEntry]]:
        """Yield the tokens of a user that were not revoked; expired ones remain until the next new token."""
        for token_id in self.credentials.tokens_of(user):
            yield token_id, self._entries["token"][token_id]

    def valid_tokens(self, user: str, now: datetime) -> Iterator[DirectoryEntry]:
        return (entry for token_id, entry in self.tokens_of(user) if self.is_valid_token(token_id, now))

    def roles_of(self, user: str) -> tuple[str, ...]:
        """Return the roles of a user, none for an unknown one.

        A user registered before users had roles has the roles of its tokens, or `submitter` without tokens.
        """
        entry = self.get("user", user)
        if entry is None:
            return ()
        if entry.document["roles"] is not None:
            return tuple(entry.document["roles"])
        token_roles = {token.document["role"] for _, token in self.tokens_of(user)}
        return tuple(role for role in ROLES if role in token_roles) or (SUBMITTER,)

    def name_index(self) -> NameIndex:
        """Return an index of all names that a job may use, cached until the next event."""
        if self._name_index is None:
            self._name_index = self._build_name_index()
        return self._name_index

    def _build_name_index(self) -> NameIndex:
        return NameIndex(
            users=self._names("user"),
            groups={name: frozenset(entry.document["members"]) for name, entry in self.items("group")},
            pools=self._names("pool"),
            arches=frozenset(self._arches) | {document["arch"] for _, document in self.trees()},
            keys=frozenset(self._keys),
            lab_controllers=self._names("lab-controller"),
            systems=self._names("system"),
            power_types=frozenset(self._power_types),
            partitions=self._names("partition") | {DEFAULT_PARTITION.name},
        )

    def _names(self, kind: str) -> frozenset[str]:
        return frozenset(name for name, _ in self.items(kind))

    def _collect_names(self, event: SystemRegistered | SystemInventoryChanged) -> None:
        self._keys.update(dict.fromkeys(event.inventory.get("key_values") or ()))
        self._arches.update(dict.fromkeys(event.inventory.get("arches") or ()))
        if event.inventory.get("power_type"):
            self._power_types[event.inventory["power_type"]] = None
