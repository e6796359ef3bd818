"""Import of many systems, which adds new ones and changes the others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from api.use_cases.change_system import NewSystemValues, decide_change
from api.use_cases.commit import append_for, commit, wait_until_reflected
from api.use_cases.many_systems import CollectedErrors, TentativeStates, used_subjects
from api.use_cases.move_system import require_may_move
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.rights import owned_by, require_admin
from api.use_cases.system_rights import holds, require_may_change
from domain.access.policy import VIEW
from domain.directory.events import PoolSystemAdded, PoolSystemRemoved
from domain.directory.partitions import number_of_lab
from domain.errors import Fault
from domain.events import Decided
from domain.read_set import ReadSet
from domain.system.differences import PropertyDifference, differences
from domain.system.state import System
from domain.system_admin.policy import leave_pool
from domain.system_admin.registration import NOT_INVENTORY, register, unknown_names
from store.requests import AppendRequest, Committed


async def import_systems(
    parts: WriteParts, request: RequestContext, items: Sequence[ImportItem], faults: Sequence[Fault]
) -> Committed | None:
    """Import all systems in one commit, whose stored answer is `counted`; return None if nothing changes.

    `faults` are those of parsing. Raises FaultyInput with all faults, else NotPermitted or Refused.
    """
    await parts.feed.catch_up()

    def attempt() -> AppendRequest | None:
        importing = _decide(parts, request, items, faults)
        if not importing.decided:
            return None
        answer = orjson.dumps(counted(importing.imported))
        return append_for(parts, request, importing.decided, importing.versions, answer)

    return await wait_until_reflected(parts, await commit(parts, lambda: asyncio.to_thread(attempt)))


async def preview_import(
    parts: WriteParts, request: RequestContext, items: Sequence[ImportItem], faults: Sequence[Fault]
) -> list[Imported]:
    """Return the changes that the import would make. Raises the errors of `import_systems`."""
    await parts.feed.catch_up()
    importing = await asyncio.to_thread(_decide, parts, request, items, faults)
    return importing.imported


def counted(imported: Sequence[Imported]) -> dict[str, int]:
    added = sum(system.added for system in imported)
    kept = sum(not system.added and not system.differences for system in imported)
    return {"added": added, "changed": len(imported) - added - kept, "kept": kept}


def _decide(
    parts: WriteParts, request: RequestContext, items: Sequence[ImportItem], faults: Sequence[Fault]
) -> Importing:
    """Return the decisions on all items. Blocking."""
    gathered = parts.aggregates.gather(f"system/{item.fqdn}" for item in items)
    importing = Importing(parts, request, gathered, CollectedErrors([*faults]))
    for item in items:
        importing.take(item)
    importing.require_one_partition()
    importing.errors.require_none()
    return importing


# Fields that a new system must have.
REQUIRED = ("lab_controller", "owner")


@dataclass(frozen=True)
class InputLocation:
    """The location of a system in the input, `systems[3]` or `row 5`, and the separator before its fields."""

    row: str
    separator: str = "."

    def locate(self, fault: Fault) -> Fault:
        return Fault(
            self.row if fault.where == "body" else self.row + self.separator + fault.where, fault.message
        )


class Locating(Protocol):
    """The location of a system in the input, which gives the location of a fault in the system."""

    def locate(self, fault: Fault) -> Fault: ...


@dataclass(frozen=True)
class ImportItem:
    """One system of an import.

    `document` registers a new system, `change` changes an existing one. If there are `faulty` fields, which
    are in neither, only the names in the other fields are checked.
    """

    location: Locating
    fqdn: str
    document: Mapping[str, Any]
    change: NewSystemValues
    faulty: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Imported:
    fqdn: str
    added: bool
    differences: list[PropertyDifference]


@dataclass
class Importing:
    """An import in progress: call `take` for each item. `versions` are those that the decisions used."""

    parts: WriteParts
    request: RequestContext
    gathered: ReadSet
    errors: CollectedErrors
    decided: Decided = field(default_factory=list)
    versions: dict[str, int] = field(default_factory=dict)
    imported: list[Imported] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.states = TentativeStates(self.gathered)
        self._named: dict[str, None] = {}
        self.directory = self.parts.feed.directory
        # The labs of the systems before and after the import, as an ordered set.
        self._labs: dict[str, None] = {}
        # Fault of an unknown name -> its index in the faults, and the number of items that have it.
        self._unknown: dict[Fault, tuple[int, int]] = {}

    def take(self, item: ImportItem) -> None:
        system = self.visible_system(item.fqdn)
        # Read before the decision, so that a later change is a conflict.
        versions = {subject: self.directory.version(subject) for subject in self._used_subjects(item, system)}
        faults = [*self._faults_of(item, exists=system is not None)]
        self.errors.faults += map(item.location.locate, faults)
        unknown = [*unknown_names(self.directory, item.document)]
        for fault in unknown:
            self.add_unknown(item.location, fault)
        labs = (item.change.lab_controller, None if system is None else system.lab_controller)
        self._labs |= dict.fromkeys(lab for lab in labs if lab is not None)
        if faults or unknown or item.faulty:
            return
        with self.errors.collecting():
            decided, imported = self.added(item) if system is None else self.changed(item)
            self.imported.append(imported)
            if decided:
                used = {} if system is None else self.states.used_versions(system, item.change)
                self.decided += decided
                for subject, version in {**versions, **used}.items():
                    self.versions.setdefault(subject, version)

    def visible_system(self, fqdn: str) -> System | None:
        system = self.gathered.system(fqdn)
        return system if system and self._may_view(system) else None

    def _may_view(self, system: System) -> bool:
        return holds(self.directory, self.request, system, VIEW)

    def _is_visible(self, fqdn: str) -> bool:
        """Return whether the caller may view a system, which is not among the gathered ones."""
        system = self.parts.aggregates.gather([f"system/{fqdn}"]).system(fqdn)
        return system is not None and self._may_view(system)

    def require_one_partition(self) -> None:
        """Add a fault if the systems are of several partitions, since a commit belongs to one."""
        numbers = {number_of_lab(self.directory, lab) for lab in self._labs}
        if len(numbers) > 1:
            names = (self.directory.partition_names.get(number, "none") for number in sorted(numbers))
            message = (
                f"has systems of several partitions ({', '.join(names)}); import those of each by themselves"
            )
            self.errors.faults.append(Fault("body", message))

    def _faults_of(self, item: ImportItem, *, exists: bool) -> Iterator[Fault]:
        called = self.directory.system_called(item.fqdn)
        if item.fqdn.casefold() in self._named:
            yield Fault("fqdn", "occurs twice")
        elif not exists and called is not None and called != item.fqdn and self._is_visible(called):
            yield Fault("fqdn", f"exists with another spelling: {called}")
        self._named[item.fqdn.casefold()] = None
        if not exists:
            missing = (name for name in REQUIRED if name not in item.document and name not in item.faulty)
            yield from (Fault(name, "is missing, but required for a new system") for name in missing)

    def add_unknown(self, location: Locating, fault: Fault) -> None:
        """Add the first of equal faults and count the others: an unknown owner is often in every row."""
        index, count = self._unknown.get(fault, (len(self.errors.faults), 0))
        if count == 0:
            self.errors.faults.append(location.locate(fault))
        else:
            others = "1 other system" if count == 1 else f"{count} other systems"
            where = self.errors.faults[index].where
            self.errors.faults[index] = Fault(where, f"{fault.message} (also for {others})")
        self._unknown[fault] = index, count + 1

    def _used_subjects(self, item: ImportItem, system: System | None) -> Iterator[str]:
        """Yield the subjects whose concurrent change has to be a conflict: names, rights, pools."""
        for kind, name in (("user", item.change.owner), ("lab-controller", item.change.lab_controller)):
            if name is not None:
                yield f"{kind}/{name}"
        if system is not None:
            yield from used_subjects(self.directory, self.request, system)
        for pool, _ in self._moves(item):
            yield f"pool/{pool}"
            yield from owned_by(self.directory, self.request, pool)

    def added(self, item: ImportItem) -> tuple[Decided, Imported]:
        require_admin(self.request, "add systems")
        properties = {name: value for name, value in item.document.items() if name != "fqdn"}
        return register(item.document), Imported(item.fqdn, True, differences({}, properties))

    def changed(self, item: ImportItem) -> tuple[Decided, Imported]:
        gathered = self.states.now
        system = gathered.system(item.fqdn)
        assert system is not None, "the caller has found it"
        decided, after = decide_change(self.directory, gathered, system, item.change)
        if decided:
            given_away = after.owner != system.owner
            require_may_change(self.directory, self.request, system, give_away=given_away)
        moves = self._moves(item)
        for pool, joins in moves:
            require_may_move(self.directory, self.request, pool, system, member=joins)
            decided += _move(after, pool, joins=joins)
        self.states.apply(decided)
        pools = self.directory.pools_of(item.fqdn)
        before = {**document_of(system), "pools": list(pools)}
        becomes = {**document_of(after), "pools": _moved(pools, moves)}
        return decided, Imported(item.fqdn, False, differences(before, becomes))

    def _moves(self, item: ImportItem) -> list[tuple[str, bool]]:
        """Return the pools that an existing system leaves (False) or joins (True)."""
        if item.change.pools is None:
            return []
        present = self.directory.pools_of(item.fqdn)
        wanted = dict.fromkeys(item.change.pools)
        left = [(pool, False) for pool in present if pool not in wanted]
        return left + [(pool, True) for pool in wanted if pool not in present]


def _move(system: System, pool: str, *, joins: bool) -> Decided:
    if joins:
        return [(f"pool/{pool}", PoolSystemAdded(system=system.fqdn))]
    return [(f"pool/{pool}", PoolSystemRemoved(system=system.fqdn)), *leave_pool(system, pool)]


def _moved(pools: tuple[str, ...], moves: list[tuple[str, bool]]) -> list[str]:
    changed = dict(moves)
    return [pool for pool in pools if pool not in changed] + [pool for pool, joins in moves if joins]


def document_of(system: System) -> dict[str, Any]:
    others = {name: getattr(system, name) for name in NOT_INVENTORY if name not in ("fqdn", "pools")}
    return {**system.inventory, **others}
