"""The directory: everything that is known by name, folded from the log.

The HTTP API validates against it (a name nobody knows is refused before anything is stored), the scheduler
takes labs and distro trees from it. It holds no recipe and no usage, so its size is that of the lab.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from domain.directory import events as happened
from domain.events import TOPICS, Event, Recorded, data_of, split_subject
from domain.job.spec import KnownNames
from domain.requirements.distro import from_text as distro_from_text
from domain.requirements.distro import newest_match
from domain.system.events import SystemInventoryChanged, SystemRegistered

Document = Mapping[str, Any]

DIRECTORY_TOPICS = sorted(
    topic
    for topic, cls in TOPICS.items()
    if issubclass(cls, (happened.DirectoryEvent, SystemRegistered, SystemInventoryChanged))
)
"""The topics of the events that move a directory."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One named thing: its document, and the version of its aggregate."""

    version: int
    document: Document


def document_after(document: Document, event: Event) -> Document:
    """The document after one more event, as PUT would give it and GET answers it."""
    if isinstance(event, happened.LabControllerEnabled | happened.LabControllerDisabled):
        return {**document, "enabled": isinstance(event, happened.LabControllerEnabled)}
    if isinstance(event, happened.PoolSystemAdded | happened.PoolSystemRemoved):
        return document
    if isinstance(event, happened.LabControllerSilent | happened.LabControllerHeard):
        return {**document, "silent": isinstance(event, happened.LabControllerSilent)}
    if isinstance(event, happened.DistroTreeRemoved):
        return {**document, "urls": {}, "removed": True}
    if isinstance(event, happened.DistroTreeRegistered):
        return data_of(event)
    if isinstance(event, happened.TokenRevoked):
        return {**document, "revoked": True}
    return {**document, **data_of(event)}


class Directory:
    """Mutable: `apply` the events of the log in order, then ask."""

    def __init__(self) -> None:
        self._entries: dict[str, dict[str, Entry]] = {}
        self._pool_systems: dict[str, dict[str, None]] = {}
        self._system_pools: dict[str, dict[str, None]] = {}
        self._folded: dict[str, str] = {}
        self._keys: dict[str, None] = {}
        self._arches: dict[str, None] = {}
        self._tokens: dict[str, str] = {}
        self._known: KnownNames | None = None
        self._tree_for: dict[str, int | None] = {}

    def apply(self, recorded: Recorded) -> None:
        """Take in one event; events of other aggregates are passed over."""
        event = recorded.event
        kind, name = split_subject(recorded.subject)
        if isinstance(event, SystemRegistered | SystemInventoryChanged):
            self._learn_names(event)
        elif not isinstance(event, happened.DirectoryEvent):
            return
        if kind == "system":
            self._folded[name.casefold()] = name
        entries = self._entries.setdefault(kind, {})
        before = entries.get(name)
        entries[name] = Entry(recorded.version, document_after(before.document if before else {}, event))
        if isinstance(event, happened.TokenCreated):
            self._tokens[event.digest] = name
        if isinstance(event, happened.PoolSystemAdded):
            self._pool_systems.setdefault(name, {})[event.system] = None
            self._system_pools.setdefault(event.system, {})[name] = None
        elif isinstance(event, happened.PoolSystemRemoved):
            self._pool_systems.get(name, {}).pop(event.system, None)
            self._system_pools.get(event.system, {}).pop(name, None)
        self._known = None
        self._tree_for.clear()

    def plain(self) -> dict[str, Any]:
        """All it knows, as plain values, for `restore`."""
        return {
            "entries": {
                kind: {name: [entry.version, entry.document] for name, entry in entries.items()}
                for kind, entries in self._entries.items()
            },
            "pools": {pool: list(systems) for pool, systems in self._pool_systems.items()},
            "pools_of": {system: list(pools) for system, pools in self._system_pools.items()},
            "keys": list(self._keys),
            "arches": list(self._arches),
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Begin from what `plain` gave."""
        self._entries = {
            kind: {name: Entry(version, document) for name, (version, document) in entries.items()}
            for kind, entries in values["entries"].items()
        }
        self._pool_systems = {pool: dict.fromkeys(systems) for pool, systems in values["pools"].items()}
        self._system_pools = {system: dict.fromkeys(pools) for system, pools in values["pools_of"].items()}
        self._folded = {name.casefold(): name for name, _ in self.items("system")}
        self._keys = dict.fromkeys(values["keys"])
        self._arches = dict.fromkeys(values["arches"])
        self._tokens = {entry.document["digest"]: name for name, entry in self.items("token")}
        self._known = None
        self._tree_for.clear()

    def get(self, kind: str, name: str) -> Entry | None:
        return self._entries.get(kind, {}).get(name)

    def version(self, subject: str) -> int:
        """The version of a named thing, 0 for one that is not there."""
        entry = self.get(*split_subject(subject))
        return entry.version if entry else 0

    def items(self, kind: str) -> Iterator[tuple[str, Entry]]:
        yield from self._entries.get(kind, {}).items()

    def pool_has(self, pool: str, system: str) -> bool:
        return system in self._pool_systems.get(pool, {})

    def system_called(self, fqdn: str) -> str | None:
        """The system of this name, whatever its case: jobs name systems without looking at it."""
        return self._folded.get(fqdn.casefold())

    def pools_of(self, system: str) -> tuple[str, ...]:
        """The pools a system is in, in the order in which it joined them."""
        return tuple(self._system_pools.get(system, ()))

    def is_enabled(self, lab_controller: str) -> bool:
        entry = self.get("lab-controller", lab_controller)
        return entry is not None and bool(entry.document["enabled"])

    def trees(self) -> Iterator[tuple[int, Document]]:
        """The distro trees that are there."""
        for name, entry in self.items("distro-tree"):
            if not entry.document.get("removed"):
                yield int(name), entry.document

    def token(self, digest: str) -> tuple[str, Document] | None:
        """The id and document of the token with this digest, unless it was revoked."""
        token_id = self._tokens.get(digest)
        if token_id is None:
            return None
        document = self._entries["token"][token_id].document
        return None if document.get("revoked") else (token_id, document)

    def tree_for(self, distro_requires: str) -> int | None:
        """The id of the newest distro tree that a distro requirement (canonical text) means now."""
        if distro_requires not in self._tree_for:
            trees = [{"id": tree_id, **document} for tree_id, document in self.trees()]
            tree = newest_match(distro_from_text(distro_requires), trees)
            self._tree_for[distro_requires] = None if tree is None else int(tree["id"])
        return self._tree_for[distro_requires]

    def known_names(self) -> KnownNames:
        """Every name a job may use."""
        if self._known is None:
            self._known = self._collect()
        return self._known

    def _collect(self) -> KnownNames:
        names = {kind: frozenset(entries) for kind, entries in self._entries.items()}
        nothing: frozenset[str] = frozenset()
        return KnownNames(
            users=names.get("user", nothing),
            groups={name: frozenset(entry.document["members"]) for name, entry in self.items("group")},
            pools=names.get("pool", nothing),
            arches=frozenset(self._arches) | {document["arch"] for _, document in self.trees()},
            keys=frozenset(self._keys),
            lab_controllers=names.get("lab-controller", nothing),
            systems=names.get("system", nothing),
        )

    def _learn_names(self, event: SystemRegistered | SystemInventoryChanged) -> None:
        self._keys.update(dict.fromkeys(event.inventory.get("key_values") or ()))
        self._arches.update(dict.fromkeys(event.inventory.get("arches") or ()))
