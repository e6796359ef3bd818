"""The rule that at least one admin can always log in, because only an admin can add an admin."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from domain.directory.roles import ADMIN
from domain.directory.state import Directory, DirectoryEntry
from domain.errors import Refused


def require_admin_without(directory: Directory, user: str) -> tuple[str, ...]:
    """Return the result of `require_admin_left` without this user; () for a user who is no admin."""
    return require_admin_left(directory, without_users=(user,)) if ADMIN in directory.roles_of(user) else ()


def require_admin_left(
    directory: Directory, without_token: str | None = None, without_users: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the subjects of a remaining admin. Raises Refused if there is none.

    The commit must check the versions of these subjects: otherwise two concurrent removals could each rely on
    the admin that the other one removes.
    """
    for name, user in directory.items("user"):
        if name in without_users or ADMIN not in directory.roles_of(name):
            continue
        if subjects := _subjects_of_admin(directory, name, user, without_token):
            return subjects
    raise Refused("no admin who can log in would be left; add another admin first")


def _subjects_of_admin(
    directory: Directory, name: str, user: DirectoryEntry, without_token: str | None
) -> tuple[str, ...]:
    """Return the subjects on which an admin's access depends, () without a password or unlimited token."""
    if directory.credentials.password_of(name) is not None and user.document["roles"] is not None:
        return (f"user/{name}",)
    for token_id, token in directory.tokens_of(name):
        if _is_lasting(token) and token_id != without_token:
            return (f"user/{name}", f"token/{token_id}")
    return ()


def _is_lasting(token: DirectoryEntry) -> bool:
    return token.document["role"] == ADMIN and token.document["expires_at"] is None


def can_any_admin_log_in(directory: Directory, now: datetime) -> bool:
    """Return whether any admin can authenticate at the time `now`, by a password or a valid admin token."""
    return any(
        ADMIN in directory.roles_of(name)
        and (directory.credentials.password_of(name) is not None or _has_token(directory, name, now))
        for name, _ in directory.items("user")
    )


def _has_token(directory: Directory, user: str, now: datetime) -> bool:
    return any(
        token.document["role"] == ADMIN and directory.is_valid_token(token_id, now)
        for token_id, token in directory.tokens_of(user)
    )
