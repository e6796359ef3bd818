"""An admin is always left who can come in: nobody else could let one in."""

from __future__ import annotations

from datetime import datetime

from domain.directory.roles import ADMIN
from domain.directory.state import Directory, Entry
from domain.errors import Refused


def require_admin_without(directory: Directory, user: str) -> tuple[str, ...]:
    """The same for a user who goes, or loses the role; nothing is asked of who is no admin."""
    return require_admin_left(directory, without_user=user) if ADMIN in directory.roles_of(user) else ()


def require_admin_left(
    directory: Directory, without_token: str | None = None, without_user: str | None = None
) -> tuple[str, ...]:
    """The subjects of one who is left: two that each leave the other one would together leave nobody, so what
    is decided rests on them. Raises Refused when there is none.
    """
    for name, user in directory.items("user"):
        if name == without_user or ADMIN not in directory.roles_of(name):
            continue
        if left := _comes_in(directory, name, user, without_token):
            return left
    raise Refused("no admin would be left who can come in: make another one first")


def _comes_in(directory: Directory, name: str, user: Entry, without_token: str | None) -> tuple[str, ...]:
    """The subjects that say so: it is by a password, or by a token that lasts."""
    if directory.credentials.password_of(name) is not None and user.document["roles"] is not None:
        return (f"user/{name}",)
    for token_id, token in directory.tokens_of(name):
        lasts = token.document["role"] == ADMIN and token.document["expires_at"] is None
        if lasts and token_id != without_token:
            return (f"user/{name}", f"token/{token_id}")
    return ()


def admin_comes_in(directory: Directory, now: datetime) -> bool:
    """Whether any admin can come in at present, be it by a token that expires."""
    return any(
        ADMIN in directory.roles_of(name)
        and (directory.credentials.password_of(name) is not None or _has_token(directory, name, now))
        for name, _ in directory.items("user")
    )


def _has_token(directory: Directory, user: str, now: datetime) -> bool:
    return any(
        token.document["role"] == ADMIN and directory.counts(token_id, now)
        for token_id, token in directory.tokens_of(user)
    )
