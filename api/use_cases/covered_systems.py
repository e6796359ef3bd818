"""The systems that a maintenance window covers, as a caller may view and change them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from api.use_cases.many_systems import CollectedErrors
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.system_rights import holds, require_may_change
from domain.access.policy import VIEW
from domain.directory.state import Directory
from domain.maintenance.window import covered_systems
from domain.system.state import System


def viewed_systems(
    parts: WriteParts, request: RequestContext, document: Mapping[str, Any]
) -> dict[str, System]:
    """Return the systems that a window covers, by name, without removed ones and those that are hidden.

    Of `document` only the systems and properties matter. Blocking.
    """
    return viewed(parts, request, present_systems(parts, document))


def viewed(parts: WriteParts, request: RequestContext, systems: Iterable[System]) -> dict[str, System]:
    """Return the systems, by name, without those that are hidden from the caller."""
    directory = parts.feed.directory
    return {system.fqdn: system for system in systems if holds(directory, request, system, VIEW)}


def present_systems(parts: WriteParts, document: Mapping[str, Any]) -> list[System]:
    """Return the systems that a window covers, without removed ones. Blocking."""
    subjects = (f"system/{fqdn}" for fqdn in covered_systems(parts.feed.directory, document))
    states = parts.aggregates.load(subjects).values()
    return [state for state in states if isinstance(state, System) and state.condition != "Removed"]


def require_may_change_all(
    directory: Directory, request: RequestContext, systems: Mapping[str, System], errors: CollectedErrors
) -> None:
    """Raise the errors, or NotPermitted with all systems that the caller may not edit."""
    for system in systems.values():
        with errors.collecting():
            require_may_change(directory, request, system)
    errors.require_none()
