"""Registration of a system; change of its lab, owner, inventory, condition and draining in one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.use_cases.commit import append_for, commit_aggregates, commit_directory
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.resolve import present_system
from api.use_cases.system_rights import rights_subjects
from domain.directory.state import Directory
from domain.errors import Fault, FaultyInput, Refused, display_name, listed, unknown_name
from domain.events import Decided
from domain.maintenance.window import KIND as WINDOW
from domain.maintenance.window import begin_reason
from domain.read_set import ReadSet
from domain.subjects import evolve_tentatively
from domain.system.state import System
from domain.system_admin.condition import change_condition
from domain.system_admin.draining import drain, undrain
from domain.system_admin.inventory import change_inventory, change_owner, move_to_lab
from domain.system_admin.registration import register, unknown_names
from domain.system_admin.ticket import change_ticket
from store.requests import AppendRequest, Committed


@dataclass(frozen=True)
class NewSystemValues:
    """The new values of a system, None for unchanged ones.

    `reason` is that of condition, draining and ticket. Without `despite_maintenance`, a system that a
    maintenance window drains is not undrained. `properties` are merged into the inventory, where None
    removes one. `pools` must be the present ones. An empty `ticket` removes the ticket.
    """

    lab_controller: str | None = None
    owner: str | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    pools: Sequence[str] | None = None
    condition: str | None = None
    draining: bool | None = None
    ticket: str | None = None
    reason: str = ""
    despite_maintenance: bool = True


async def change_system(
    parts: WriteParts,
    request: RequestContext,
    fqdn: str,
    change: NewSystemValues,
    require_may: Callable[[System], None],
) -> Committed | None:
    """Change a system; None if nothing changes. Raises FaultyInput, Unknown, Refused, NotPermitted."""
    directory = parts.feed.directory
    if _faults(directory, fqdn, change):
        await parts.feed.catch_up()

    def decide(gathered: ReadSet) -> Decided:
        system = present_system(gathered, fqdn)
        require_may(system)
        if faults := _faults(directory, fqdn, change):
            raise FaultyInput(faults)
        return decide_change(directory, gathered, system, change)[0]

    def also_read(gathered: ReadSet) -> Iterator[str]:
        system = present_system(gathered, fqdn)
        yield from _named(change, system)
        yield from rights_subjects(directory, system, request.actor)

    return await commit_aggregates(parts, request, (f"system/{fqdn}",), decide, also_read)


def _named(change: NewSystemValues, system: System) -> Iterator[str]:
    """Yield the subjects whose concurrent removal has to be a conflict."""
    if change.owner is not None:
        yield f"user/{change.owner}"
    if change.lab_controller is not None:
        yield f"lab-controller/{change.lab_controller}"
    elif system.condition == "Removed":
        yield f"lab-controller/{system.lab_controller}"


def _require_lab(directory: Directory, system: System) -> None:
    if directory.get("lab-controller", system.lab_controller) is None:
        lab = display_name("lab-controller", system.lab_controller)
        raise Refused(f"{lab} was removed; set the lab of system {system.fqdn} too")


def decide_change(
    directory: Directory, gathered: ReadSet, system: System, change: NewSystemValues
) -> tuple[Decided, System]:
    """Return the events of a change, and the system after it. Raises Refused if it is impossible now."""
    if change.draining is False and not change.despite_maintenance:
        _require_no_maintenance(directory, system)
    decided: Decided = []
    for step in _steps(gathered, change):
        events = step(system)
        decided += events
        system = _system_after(system, events)
    if decided and system.condition != "Removed":
        _require_lab(directory, system)
    return decided, system


def _require_no_maintenance(directory: Directory, system: System) -> None:
    windows = ((number, directory.get(WINDOW, str(number))) for number in system.windows)
    reasons = [begin_reason(number, entry.document) for number, entry in windows if entry is not None]
    if reasons:
        drained = f"system {system.fqdn} is drained by {listed(reasons)}"
        raise Refused(f"{drained}; end the window first, or undrain it with despite_maintenance")


def _steps(gathered: ReadSet, change: NewSystemValues) -> Iterator[Callable[[System], Decided]]:
    """Yield the decisions; each takes the system after the previous one."""
    lab_controller, owner = change.lab_controller, change.owner
    condition, reason = change.condition, change.reason
    if lab_controller is not None:
        yield lambda system: move_to_lab(system, lab_controller)
    if owner is not None:
        yield lambda system: change_owner(system, owner)
    if change.properties:
        yield lambda system: change_inventory(system, change.properties)
    if change.ticket == "":
        yield lambda system: change_ticket(system, None, reason or None)
    # Drain before and undrain after the condition, so that a drained system does not become pending.
    if change.draining is True:
        yield lambda system: drain(system, reason)
    if condition is not None:
        yield lambda system: change_condition(system, gathered.members_on(system), condition, reason)
    if change.ticket:
        yield lambda system: change_ticket(system, change.ticket, reason or None)
    if change.draining is False:
        yield lambda system: undrain(system, reason or None)


def _system_after(system: System, decided: Decided) -> System:
    for subject, event in decided:
        if subject == system.subject:
            state = evolve_tentatively(subject, system, event)
            assert isinstance(state, System)
            system = state
    return system


def _faults(directory: Directory, fqdn: str, change: NewSystemValues) -> list[Fault]:
    """Return an error for each unknown name, and for each pool that differs from the present ones."""
    faults = [
        Fault(field, unknown_name(kind, name))
        for field, kind, name in (
            ("lab_controller", "lab-controller", change.lab_controller),
            ("owner", "user", change.owner),
        )
        if name is not None and directory.get(kind, name) is None
    ]
    if change.pools is not None:
        present = frozenset(directory.pools_of(fqdn))
        faults += [
            Fault("pools", f"cannot be changed here; use PUT or DELETE /pools/{pool}/systems/{fqdn}")
            for pool in sorted(present.symmetric_difference(change.pools))
        ]
    return faults


async def register_system(
    parts: WriteParts, request: RequestContext, document: Mapping[str, Any], drained: str | None = None
) -> Committed:
    """Register a system, and drain it with the reason `drained` unless that is None.

    Raises FaultyInput for unknown names, Refused if the system exists.
    """
    directory, subject = parts.feed.directory, f"system/{document['fqdn']}"
    if unknown_names(directory, document):
        await parts.feed.catch_up()
    decided = register(document, drained)
    changed = dict.fromkeys(subject for subject, _ in decided)
    # A concurrent removal of one of these has to be a conflict.
    named = (f"lab-controller/{document['lab_controller']}", f"user/{document['owner']}")

    def decide() -> AppendRequest:
        existing = directory.system_called(document["fqdn"])
        if existing is not None:
            raise Refused(f"system {existing} exists; change it, or its condition if it is Removed")
        if faults := unknown_names(directory, document):
            raise FaultyInput(faults)
        versions = {subject: directory.version(subject) for subject in (*changed, *named)}
        return append_for(parts, request, decided, versions)

    done = await commit_directory(parts, request, subject, decide)
    assert done is not None, "a registration is always something new"
    return done
