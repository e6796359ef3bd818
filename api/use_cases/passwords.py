"""Setting of passwords, and their check at login (docs/decisions/0013)."""

from __future__ import annotations

import asyncio
import secrets

from api.use_cases.commit import append_for, commit_directory
from api.use_cases.ports import PasswordParts, RequestContext, WriteParts
from api.use_cases.rights import require_self
from domain.directory.events import UserPasswordSet
from domain.directory.passwords import faults_of
from domain.directory.roles import ADMIN
from domain.directory.tokens import equals_password_login
from domain.errors import Fault, FaultyInput, NotPermitted, Refused, TooOften, Unknown, display_name
from postgres.errors import DatabaseAway
from store.passwords import delete_stale_hashes, hash_of, store_hash
from store.requests import AppendRequest, Committed


async def set_password(
    parts: PasswordParts, request: RequestContext, user: str, new: str, current: str | None = None
) -> Committed:
    """Set the user's password; the previous one is no longer valid.

    An admin may set the password of any user. Others set their own, and give the `current` one if they have
    one. Tokens stay valid.
    Raises FaultyInput with all faults, Unknown, Stale, TooOften, and Refused when another request has set the
    password meanwhile. Raises NotPermitted for another user's password, a wrong `current`, and a first
    password by a token with fewer rights than the password would give.
    """
    await parts.feed.catch_up()
    require_may_set_password(parts, request, user)
    before = parts.feed.directory.credentials.password_of(user)
    needs_current = before is not None and not request.is_admin
    faults = faults_of(new, user, "password")
    if needs_current and current is None:
        faults.append(Fault("current_password", "is required to change the password"))
    if faults:
        raise FaultyInput(faults)
    if needs_current and not await is_password(parts, user, before, current or ""):
        raise NotPermitted("the current password is wrong")
    password_id = secrets.token_hex(8)
    hashed = await parts.hashing.hashed(new)
    await asyncio.to_thread(store_hash, parts.log, password_id, user, hashed)
    done = await _validate_hash(parts, request, user, before, password_id)
    await asyncio.to_thread(delete_stale_hashes, parts.log, user)
    return done


def require_may_set_password(parts: WriteParts, request: RequestContext, user: str) -> None:
    """Raise NotPermitted as `set_password` does, but for a wrong `current` one, or Unknown."""
    require_self(request, user, "set the password of another user")
    if parts.feed.directory.get("user", user) is None:
        raise Unknown(display_name("user", user))
    if parts.feed.directory.credentials.password_of(user) is None:
        _require_no_more_rights(parts, request, user)


async def _validate_hash(
    parts: PasswordParts, request: RequestContext, user: str, before: str | None, password_id: str
) -> Committed:
    """Append the event that makes the new hash valid instead of the present one."""
    directory, subject = parts.feed.directory, f"user/{user}"

    def decide() -> AppendRequest:
        entry, replaced = directory.get("user", user), directory.credentials.password_of(user)
        if entry is None:
            raise Unknown(display_name("user", user))
        if replaced != before and not request.is_admin:
            raise Refused(f"another request has set the password of {display_name('user', user)}")
        if replaced is None:
            _require_no_more_rights(parts, request, user)
        event = UserPasswordSet(password_id=password_id)
        return append_for(parts, request, [(subject, event)], {subject: entry.version})

    done = await commit_directory(parts, request, subject, decide)
    assert done is not None, "a password that is set is always something new"
    return done


def _require_no_more_rights(parts: WriteParts, request: RequestContext, user: str) -> None:
    """Raise NotPermitted unless the token has no end and all rights that the first password would give."""
    if request.is_admin:
        return
    directory = parts.feed.directory
    if ADMIN in directory.roles_of(user):
        raise NotPermitted(
            f"only an admin may set the first password of {display_name('user', user)}, an admin"
        )
    entry = directory.get("token", request.token_id or "")
    if entry is None or not equals_password_login(entry.document, directory.roles_of(user)):
        raise NotPermitted(
            f"setting the first password of {display_name('user', user)} requires an admin, or a token that "
            "has no end and the widest role of the user, because a password does not expire "
            "and opens all roles"
        )


async def is_password(
    parts: PasswordParts, user: str, password_id: str | None, password: str, address: str | None = None
) -> bool:
    """Return whether the password matches the hash with that id; without an id, False after as much time.

    Raises TooOften after failures, or if too many passwords are being checked, which is no failed attempt.
    """
    async with parts.attempts.attempt(user, address) as attempt:
        is_doubtful = password_id is None or parts.attempts.failed_count(user) > 0
        try:
            hashed = await asyncio.to_thread(hash_of, parts.log, password_id or "", user)
            is_right = await parts.hashing.is_right(password, hashed, is_doubtful=is_doubtful)
        except (TooOften, DatabaseAway):
            attempt.has_failed = False
            raise
        attempt.has_failed = not is_right
    return is_right
