"""Reports that something runs on a system or that nothing does, and the resolution of reconciliations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from api.use_cases.commit import commit_aggregates
from api.use_cases.ports import EventParts, RequestContext, WriteParts
from api.use_cases.resolve import present_system
from api.use_cases.rights import require_own_lab
from domain.errors import Unknown
from domain.events import Decided, split_subject
from domain.read_set import ReadSet
from domain.system.events import SystemOccupied
from domain.system.state import System
from domain.system_admin.occupation import vacate
from domain.system_admin.recovery import VACANT, Running, not_running, reported_running
from store.requests import Committed


async def take_running(
    parts: WriteParts, request: RequestContext, lab_controller: str | None, fqdn: str, running: Running
) -> Committed | None:
    """Compare a report of something that runs on a system with the log; None if nothing changes.

    `lab_controller` is the reporting one, None for an admin. Raises Unknown, NotPermitted for a system of
    another lab, and Refused if the recipe runs there but cannot be in the reported state.
    """

    def decide(gathered: ReadSet, system: System) -> Decided:
        return reported_running(gathered, system, running)

    subjects = () if running.recipe_id is None else (f"recipe/{running.recipe_id}",)
    return await _commit(parts, request, lab_controller, fqdn, decide, *subjects)


async def take_vacant(
    parts: WriteParts, request: RequestContext, lab_controller: str | None, fqdn: str
) -> Committed | None:
    """Vacate a system; None if it is not occupied. Raises Unknown and NotPermitted as `take_running` does."""

    def decide(_: ReadSet, system: System) -> Decided:
        return vacate(system, VACANT)

    return await _commit(parts, request, lab_controller, fqdn, decide)


async def end_unreported(
    parts: WriteParts, request: RequestContext, fqdn: str, running: Collection[int]
) -> Committed | None:
    """Abort the recipe of a system that does not run there, or vacate the system; None if nothing changes.

    `running` are the recipes that run there, 0 for something without a name.
    """

    def decide(gathered: ReadSet, system: System) -> Decided:
        return not_running(gathered, system, running)

    return await _commit(parts, request, None, fqdn, decide)


async def resolve(
    parts: EventParts, request: RequestContext, reconciliation_id: int, reason: str
) -> Committed | None:
    """Vacate the system of a reconciliation; None if it was resolved before. Raises Unknown.

    The id is the position of the event that made the system occupied.
    """
    found = await asyncio.to_thread(parts.log.at, [reconciliation_id])
    recorded = found.get(reconciliation_id)
    if recorded is None or not isinstance(recorded.event, SystemOccupied):
        raise Unknown(f"reconciliation {reconciliation_id}")

    def decide(_: ReadSet, system: System) -> Decided:
        is_open = system.occupied is not None and system.occupied.since == reconciliation_id
        return vacate(system, reason) if is_open else []

    _, fqdn = split_subject(recorded.subject)
    return await _commit(parts, request, None, fqdn, decide)


async def _commit(
    parts: WriteParts,
    request: RequestContext,
    lab_controller: str | None,
    fqdn: str,
    decide: Callable[[ReadSet, System], Decided],
    *subjects: str,
) -> Committed | None:
    def decide_on(gathered: ReadSet) -> Decided:
        system = present_system(gathered, fqdn)
        require_own_lab(lab_controller, system.subject, system.lab_controller)
        return decide(gathered, system)

    return await commit_aggregates(parts, request, (f"system/{fqdn}", *subjects), decide_on)
