"""Creation and revocation of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.directory.admins import require_admin_left
from domain.directory.changes import unknown_role
from domain.directory.events import TokenRevoked, UserChanged
from domain.directory.roles import ADMIN, GIVEN_BY_ADMINS, LAB_CONTROLLER, ROLES
from domain.directory.state import Directory
from domain.errors import Fault, unknown_name
from domain.events import Decided


@dataclass(frozen=True)
class TokenRequest:
    """A requested token; it does not expire if `expires_at` is None."""

    user: str
    role: str
    lab_controller: str | None = None
    expires_at: datetime | None = None


def faults_of(
    directory: Directory, request: TokenRequest, now: datetime, *, is_admin: bool, asking: str | None = None
) -> list[Fault]:
    """Return the faults of a requested token; the request is authenticated by the token with id `asking`."""
    faults = _role_faults(directory, request, is_admin=is_admin)
    if directory.get("user", request.user) is None:
        faults.insert(0, Fault("user", unknown_name("user", request.user)))
    faults += _lab_faults(directory, request)
    if request.expires_at is not None and request.expires_at <= now:
        faults.append(Fault("expires_at", "is in the past"))
    elif not is_admin:
        faults += _end_faults(directory, request, asking)
    return faults


def _end_faults(directory: Directory, request: TokenRequest, asking: str | None) -> list[Fault]:
    """Return a fault if the new token would expire after `asking`: a chain of tokens would never expire."""
    if asking is None:
        return []
    entry = directory.get("token", asking)
    if entry is None:
        return [Fault("expires_at", "the token of this request is no longer valid")]
    end = entry.document["expires_at"]
    if end is None or (request.expires_at is not None and request.expires_at <= datetime.fromisoformat(end)):
        return []
    return [Fault("expires_at", f"must be at most {end}, when the token of this request expires")]


def _role_faults(directory: Directory, request: TokenRequest, *, is_admin: bool) -> list[Fault]:
    role = request.role
    if role not in ROLES:
        return [Fault("role", unknown_role(role))]
    if is_admin:
        return []
    if role in GIVEN_BY_ADMINS:
        return [Fault("role", f"only an admin may create a token of the role {role}")]
    if role not in directory.roles_of(request.user):
        return [Fault("role", f"{request.user} does not have the role {role}")]
    return []


def _lab_faults(directory: Directory, request: TokenRequest) -> list[Fault]:
    lab_controller = request.lab_controller
    if request.role != LAB_CONTROLLER:
        if lab_controller is None:
            return []
        return [Fault("lab_controller", f"is only for the role {LAB_CONTROLLER}, not for {request.role}")]
    if lab_controller is None:
        return [Fault("lab_controller", f"is required for the role {LAB_CONTROLLER}: its FQDN")]
    if directory.get("lab-controller", lab_controller) is None:
        return [Fault("lab_controller", unknown_name("lab-controller", lab_controller))]
    return []


def equals_password_login(token: Mapping[str, Any], roles: Sequence[str]) -> bool:
    """Return whether a token replaces a password: it does not expire, and has the widest of the user's roles.

    ROLES is ordered from the widest role: a token can create tokens of roles after its own. LAB_CONTROLLER is
    not considered, because a password login does not get it.
    """
    widest = next((role for role in ROLES if role in roles and role != LAB_CONTROLLER), None)
    return token["expires_at"] is None and token["role"] == widest


def role_given(directory: Directory, request: TokenRequest) -> Decided:
    """Return the event that gives the user the role of the token, none if the user has it."""
    user = directory.get("user", request.user)
    roles = directory.roles_of(request.user)
    if user is None or request.role in roles:
        return []
    changed = UserChanged(roles=[*roles, request.role], email=user.document["email"])
    return [(f"user/{request.user}", changed)]


def revoke(directory: Directory, token_id: str, reason: str | None = None) -> tuple[Decided, tuple[str, ...]]:
    """Return the events, none for a dropped token, and the subjects whose versions the commit must check.

    Raises Refused for the last credential of the last admin.
    """
    entry = directory.get("token", token_id)
    if entry is None:
        return [], ()
    is_admin = entry.document["role"] == ADMIN
    left = require_admin_left(directory, without_token=token_id) if is_admin else ()
    return revoked([token_id], reason), left


def revoked(token_ids: Iterable[str], reason: str | None = None) -> Decided:
    return [(f"token/{token_id}", TokenRevoked(reason=reason)) for token_id in token_ids]
