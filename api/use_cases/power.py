"""Power settings of systems: the commit of an event, and of the settings beside the log."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from api.intake.near_names import suggestion
from api.use_cases.commit import append_for, commit, require_expected
from api.use_cases.ports import EventParts, RequestContext
from api.use_cases.resolve import present_system
from api.use_cases.system_rights import require_permission, rights_subjects
from domain.access.policy import CONTROL_SYSTEM, EDIT_SYSTEM
from domain.directory.state import Directory
from domain.errors import Unknown, display_name
from domain.system.events import SystemPowerChanged
from domain.system.state import System
from domain.system_admin.power import USUAL_TYPES, PowerSettings, secret_after
from store.event_log import EventLog
from store.power import power_settings_of, types_elsewhere
from store.requests import AppendRequest, Committed, PowerChange


async def set_power(
    parts: EventParts, request: RequestContext, fqdn: str, wanted: PowerSettings, *, keeps_secret: bool
) -> Committed | None:
    """Set the power settings of a system; None if nothing changes. With `keeps_secret` its secret stays.

    Raises Unknown, Stale, NotPermitted, and FaultyInput as `secret_after` does.
    """

    def settings(before: PowerSettings | None) -> PowerSettings:
        secret = secret_after(before, wanted.type, wanted.address, wanted.secret, keeps_secret=keeps_secret)
        return replace(wanted, secret=secret)

    return await _change(parts, request, fqdn, settings, None)


async def unset_power(
    parts: EventParts, request: RequestContext, fqdn: str, reason: str | None
) -> Committed | None:
    """Delete the power settings of a system; None without any. Raises Unknown, Stale, NotPermitted."""
    return await _change(parts, request, fqdn, lambda _: None, reason)


async def _change(
    parts: EventParts,
    request: RequestContext,
    fqdn: str,
    settings: Callable[[PowerSettings | None], PowerSettings | None],
    reason: str | None,
) -> Committed | None:
    directory, subject = parts.feed.directory, f"system/{fqdn}"

    def attempt() -> AppendRequest | None:
        gathered = parts.aggregates.gather((subject,))
        system = present_system(gathered, fqdn)
        # Read before the decision, so that a later change is a conflict.
        subjects = rights_subjects(directory, system, request.actor)
        versions = {other: directory.version(other) for other in subjects}
        require_may_set_power(directory, request, system)
        require_expected(request, subject, system.version)
        # Read after the version of the system: if it is of a later change, the append is in conflict.
        before = power_settings_of(parts.log, fqdn)
        after = settings(before)
        if after == before:
            return None
        changed = SystemPowerChanged(is_set=after is not None, reason=reason)
        versions[subject] = system.version
        append = append_for(parts, request, [(subject, changed)], versions)
        return replace(append, power=(PowerChange(fqdn, after),))

    return await commit(parts, lambda: asyncio.to_thread(attempt))


def require_may_set_power(directory: Directory, request: RequestContext, system: System) -> None:
    """Raise NotPermitted unless the caller may edit or control the system, Unknown if it is hidden."""
    require_permission(directory, request, system, EDIT_SYSTEM, CONTROL_SYSTEM)


def power_of_own_system(parts: EventParts, lab_controller: str, fqdn: str) -> PowerSettings:
    """Return the settings, with the secret, for the lab controller that the system has now. Blocking.

    Raises Unknown for a system of another lab controller, as for one that does not exist, or without any.
    """
    # Read before the lab, so that a lab controller never gets settings from after it lost the system.
    settings = power_settings_of(parts.log, fqdn)
    system = parts.aggregates.load([f"system/{fqdn}"]).get(f"system/{fqdn}")
    if not isinstance(system, System) or system.lab_controller != lab_controller:
        raise Unknown(display_name("system", fqdn))
    if settings is None:
        raise no_settings(fqdn)
    return settings


def no_settings(fqdn: str) -> Unknown:
    return Unknown("power settings", f"system {fqdn} has none")


def unusual_types(log: EventLog, types: Mapping[str, str]) -> dict[str, str]:
    """Return a warning for each type that is not usual, and that no other system has, by type. Blocking.

    `types` has the types by system. Lab controllers may understand types that are not usual.
    """
    counts = Counter(types.values())
    unusual = {name for name, count in counts.items() if count == 1 and name not in USUAL_TYPES}
    unusual -= types_elsewhere(log, unusual, types) if unusual else frozenset()
    return {
        name: f'no other system has the power type "{name}"{suggestion(name, USUAL_TYPES)}'
        for name in sorted(unusual)
    }
