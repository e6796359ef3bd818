"""Tokens are made and revoked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from domain.directory.changes import unknown_role
from domain.directory.events import TokenRevoked, UserChanged
from domain.directory.roles import ADMIN, GIVEN_BY_ADMINS, LAB_CONTROLLER, ROLES
from domain.directory.state import Directory, Entry
from domain.errors import Fault, Refused
from domain.events import Decided
from domain.names import unknown_name


@dataclass(frozen=True)
class Wanted:
    """A token that somebody asks for; `expires_at` None: without an end."""

    user: str
    role: str
    lab_controller: str | None = None
    expires_at: datetime | None = None


def faults_of(directory: Directory, wanted: Wanted, now: datetime, *, is_admin: bool) -> list[Fault]:
    """What is wrong with what is asked for; who is no admin asks for themselves."""
    faults = _role_faults(directory, wanted, is_admin=is_admin)
    if directory.get("user", wanted.user) is None:
        faults.insert(0, Fault("user", unknown_name("user", wanted.user)))
    faults += _lab_faults(directory, wanted)
    if wanted.expires_at is not None and wanted.expires_at <= now:
        faults.append(Fault("expires_at", "is over"))
    return faults


def _role_faults(directory: Directory, wanted: Wanted, *, is_admin: bool) -> list[Fault]:
    role = wanted.role
    if role not in ROLES:
        return [Fault("role", unknown_role(role))]
    if is_admin:
        return []
    if role in GIVEN_BY_ADMINS:
        return [Fault("role", f"only an admin makes a token of the role {role}")]
    if role not in directory.roles_of(wanted.user):
        return [Fault("role", f"{wanted.user} may not take on the role {role}")]
    return []


def _lab_faults(directory: Directory, wanted: Wanted) -> list[Fault]:
    lab_controller = wanted.lab_controller
    if wanted.role != LAB_CONTROLLER:
        if lab_controller is None:
            return []
        return [Fault("lab_controller", f"is for the role {LAB_CONTROLLER} alone, not for {wanted.role}")]
    if lab_controller is None:
        return [Fault("lab_controller", f"the role {LAB_CONTROLLER} needs the FQDN of the one it is for")]
    if directory.get("lab-controller", lab_controller) is None:
        return [Fault("lab_controller", unknown_name("lab-controller", lab_controller))]
    return []


def role_given(directory: Directory, wanted: Wanted) -> Decided:
    """An admin who makes a token of a role that its user does not have gives the role with it."""
    user = directory.get("user", wanted.user)
    roles = directory.roles_of(wanted.user)
    if user is None or wanted.role in roles:
        return []
    changed = UserChanged(**{**user.document, "roles": [*roles, wanted.role]})
    return [(f"user/{wanted.user}", changed)]


def revoke(directory: Directory, token_id: str) -> Decided:
    """Nothing if it was revoked. Raises Refused for what the last admin comes in with."""
    entry = directory.get("token", token_id)
    if entry is None or entry.document.get("revoked"):
        return []
    if entry.document["role"] == ADMIN:
        require_admin_left(directory, without_tokens=(token_id,))
    return revoked([token_id])


def revoked(token_ids: Iterable[str]) -> Decided:
    return [(f"token/{token_id}", TokenRevoked()) for token_id in token_ids]


def require_admin_left(
    directory: Directory, without_tokens: Iterable[str] = (), without_user: str | None = None
) -> None:
    """Raises Refused when no admin could come in any more: nobody would be there to let one in."""
    gone = frozenset(without_tokens)
    for name, user in directory.items("user"):
        if (
            name != without_user
            and ADMIN in directory.roles_of(name)
            and _comes_in(directory, name, user, gone)
        ):
            return
    raise Refused("no admin would be left who can come in: make another one first")


def _comes_in(directory: Directory, name: str, user: Entry, gone: frozenset[str]) -> bool:
    """By a password, or by a token that lasts."""
    if directory.access.password_of(name) is not None and user.document["roles"] is not None:
        return True
    lasting = (
        token_id
        for token_id, token in directory.tokens_of(name)
        if token.document["role"] == ADMIN and token.document["expires_at"] is None
    )
    return any(token_id not in gone for token_id in lasting)
