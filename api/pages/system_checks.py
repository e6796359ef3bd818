"""The state of a system and checks of rights to it, for the actions on systems."""

from __future__ import annotations

from collections.abc import Callable

from api.rest.ports import PageParts
from api.use_cases import system_rights
from api.use_cases.ports import RequestContext
from domain.directory.state import Directory
from domain.errors import Unknown, display_name
from domain.system.state import System

Check = Callable[[Directory, RequestContext, System], None]
"""A check of a right to a system, which raises NotPermitted."""


def load_system(parts: PageParts, fqdn: str) -> System:
    """Return the present system. Blocking. Raises Unknown."""
    subject = f"system/{fqdn}"
    system = parts.aggregates.load([subject]).get(subject)
    if not isinstance(system, System):
        raise Unknown(display_name("system", fqdn))
    return system


def checked(check: Check) -> Callable[[PageParts, RequestContext, System], None]:
    """Return a check of an action, which raises Unknown for a hidden system."""

    def require_may(parts: PageParts, request: RequestContext, system: System) -> None:
        system_rights.require_viewed(parts.feed.directory, request, system)
        check(parts.feed.directory, request, system)

    return require_may
