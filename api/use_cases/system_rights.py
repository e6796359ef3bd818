"""Who may do what with a system: as a person, by the permissions they hold there (docs/decisions/0020)."""

from __future__ import annotations

from collections.abc import Iterator

from api.services import Request, Services
from domain.access.people import Person, may
from domain.access.policy import CONTROL_SYSTEM, EDIT_SYSTEM, LOAN_ANY, LOAN_SELF, RESERVE, VIEW
from domain.directory.standing import Groups, access_to
from domain.errors import NotPermitted, Unknown
from domain.names import called
from domain.system.state import System


def person(services: Services, request: Request) -> Person:
    return Person(request.actor, Groups(services.feed.directory, request.actor), request.is_admin)


def require_permission(services: Services, request: Request, system: System, permission: str) -> None:
    """Raises Unknown for who may not view it, NotPermitted for who may but does not hold the permission."""
    require_any(services, request, system, (permission,))


def require_any(services: Services, request: Request, system: System, permissions: tuple[str, ...]) -> None:
    """The same where one of several permissions is enough."""
    require_viewed(services, request, system)
    if not any(holds(services, request, system, permission) for permission in permissions):
        needed = " or ".join(permissions)
        raise NotPermitted(f"{system.subject} belongs to {system.owner}: it takes {needed}")


def require_viewed(services: Services, request: Request, system: System) -> None:
    """Raises Unknown for who may not view it: to them there is no such system."""
    if not holds(services, request, system, VIEW):
        raise Unknown(called("system", system.fqdn))


def holds(services: Services, request: Request, system: System, permission: str) -> bool:
    return may(person(services, request), access_to(services.feed.directory, system), permission)


def require_may_change(
    services: Services, request: Request, system: System, *, give_away: bool = False
) -> None:
    """Raises NotPermitted for who may not edit it; to give it away it has to be theirs."""
    require_permission(services, request, system, EDIT_SYSTEM)
    if give_away:
        require_may_give_away(services, request, system)


def require_may_give_away(services: Services, request: Request, system: System) -> None:
    """Raise NotPermitted unless an admin or the owner asks."""
    owner = access_to(services.feed.directory, system).owner
    if not request.is_admin and request.actor != owner:
        raise NotPermitted(f"{system.subject} belongs to {system.owner}: only they give it to somebody else")


def require_may_reserve(services: Services, system: System, user: str) -> None:
    """Raises NotPermitted where a user may not reserve it; to be an admin does not help."""
    directory = services.feed.directory
    if not may(Person(user, Groups(directory, user)), access_to(directory, system), RESERVE):
        raise NotPermitted(f"{user} does not hold the permission {RESERVE} on {system.subject}")


def require_may_return(services: Services, request: Request, system: System) -> None:
    """Raises NotPermitted for who has not reserved it and may not control it."""
    if access_to(services.feed.directory, system).reserved_by != request.actor:
        require_permission(services, request, system, CONTROL_SYSTEM)


def require_may_lend(services: Services, request: Request, system: System, user: str) -> None:
    """Raises NotPermitted for who may not lend it to this user."""
    themselves = (LOAN_SELF,) if user == request.actor else ()
    require_any(services, request, system, (*themselves, LOAN_ANY))


def require_may_end_loan(services: Services, request: Request, system: System) -> None:
    """Raises NotPermitted for who has not borrowed it and may not lend it."""
    if access_to(services.feed.directory, system).borrower != request.actor:
        require_permission(services, request, system, LOAN_ANY)


def rests_on(services: Services, system: System, user: str) -> Iterator[str]:
    """The subjects that give a user permissions on a system.

    A permission that is taken from them in the same moment is so not used any more.
    """
    directory = services.feed.directory
    if system.active_pool is not None:
        yield f"pool/{system.active_pool}"
    theirs = Groups(directory, user)
    named = {entry.group for entry in access_to(directory, system).policy if entry.group is not None}
    yield from (f"group/{name}" for name in sorted(named) if name in theirs)
