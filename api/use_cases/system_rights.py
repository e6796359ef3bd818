"""Permissions of people on systems (docs/decisions/0020)."""

from __future__ import annotations

from collections.abc import Iterator

from api.use_cases.ports import RequestContext
from domain.access.people import Person, may
from domain.access.policy import CONTROL_SYSTEM, EDIT_SYSTEM, LOAN_ANY, LOAN_SELF, RESERVE, VIEW
from domain.directory.state import Directory
from domain.directory.system_access import UserGroups, access_to
from domain.errors import NotPermitted, Unknown, display_name
from domain.system.state import System


def person(directory: Directory, request: RequestContext) -> Person:
    return Person(request.actor, UserGroups(directory, request.actor), request.is_admin)


def require_permission(
    directory: Directory, request: RequestContext, system: System, *permissions: str
) -> None:
    """Raise Unknown if the caller may not view the system, NotPermitted without any of the permissions."""
    require_viewed(directory, request, system)
    if not any(holds(directory, request, system, permission) for permission in permissions):
        needed = " or ".join(permissions)
        raise NotPermitted(f"system {system.fqdn} belongs to {system.owner}; {needed} is required")


def require_viewed(directory: Directory, request: RequestContext, system: System) -> None:
    if not holds(directory, request, system, VIEW):
        raise Unknown(display_name("system", system.fqdn))


def holds(directory: Directory, request: RequestContext, system: System, permission: str) -> bool:
    return may(person(directory, request), access_to(directory, system), permission)


def require_may_change(
    directory: Directory, request: RequestContext, system: System, *, give_away: bool = False
) -> None:
    """Raise NotPermitted unless the caller may edit the system, and owns it if `give_away`."""
    require_permission(directory, request, system, EDIT_SYSTEM)
    if give_away:
        require_may_give_away(directory, request, system)


def require_may_give_away(directory: Directory, request: RequestContext, system: System) -> None:
    """Raise NotPermitted unless an admin or the owner asks."""
    owner = access_to(directory, system).owner
    if not request.is_admin and request.actor != owner:
        raise NotPermitted(f"only its owner {system.owner} may give system {system.fqdn} to another user")


def require_may_reserve(directory: Directory, system: System, user: str) -> None:
    """Raise NotPermitted if the user may not reserve the system, even as an admin."""
    if not may(Person(user, UserGroups(directory, user)), access_to(directory, system), RESERVE):
        raise NotPermitted(f"{user} does not have the permission {RESERVE} on system {system.fqdn}")


def require_may_return(directory: Directory, request: RequestContext, system: System) -> None:
    """Raise NotPermitted unless the caller has reserved the system or may control it."""
    if access_to(directory, system).reserved_by != request.actor:
        require_permission(directory, request, system, CONTROL_SYSTEM)


def require_may_lend(directory: Directory, request: RequestContext, system: System, user: str) -> None:
    themselves = (LOAN_SELF,) if user == request.actor else ()
    require_permission(directory, request, system, *themselves, LOAN_ANY)


def require_may_end_loan(directory: Directory, request: RequestContext, system: System) -> None:
    """Raise NotPermitted unless the caller has borrowed the system or may lend it."""
    if access_to(directory, system).borrower != request.actor:
        require_permission(directory, request, system, LOAN_ANY)


def rights_subjects(directory: Directory, system: System, user: str) -> Iterator[str]:
    """Yield the subjects that give a user permissions on a system, whose change has to be a conflict."""
    if system.active_pool is not None:
        yield f"pool/{system.active_pool}"
    theirs = UserGroups(directory, user)
    named = {entry.group for entry in access_to(directory, system).policy if entry.group is not None}
    yield from (f"group/{name}" for name in sorted(named) if name in theirs)
