"""Sign-in: a person whom the identity provider has authenticated gets a token that expires."""

from __future__ import annotations

import asyncio
from typing import Final

from api.oidc.errors import SignInFailed
from api.oidc.identity import Identity
from api.oidc.sign_in import SignIn
from api.use_cases.external_groups import SIGN_IN, set_memberships
from api.use_cases.log_in import NewLogin, begin_session
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.put_document import put_document
from domain.directory.admins import has_lasting_admin_access
from domain.directory.roles import SUBMITTER
from domain.directory.state import Directory, DirectoryEntry
from domain.errors import Unknown, display_name

NEW_USER: Final = {"roles": [SUBMITTER], "email": None}


async def sign_in(
    parts: WriteParts,
    options: SignIn,
    request_id: str,
    identity: Identity,
    role: str | None = None,
    kept_address: str | None = None,
) -> NewLogin:
    """Create the token of a login, and before it the user and the memberships that the provider implies.

    The user is the one of the same name (docs/decisions/0045). Raises SignInFailed for a removed user, for an
    admin with other credentials whom no sign-in has created, and for a new one if the service creates none.
    Raises NotPermitted and Refused as `log_in` does.
    """
    directory, user = parts.feed.directory, identity.user
    await parts.feed.catch_up()
    if directory.get("user", user) is None:
        _require_new(directory, options, user)
        by_service = RequestContext(SIGN_IN, request_id, is_admin=True, address=kept_address)
        await put_document(parts, by_service, "user", user, NEW_USER)
    try:
        version = await _linkable_version(parts, user)
        if options.group_map:
            by_provider = RequestContext(SIGN_IN, request_id, address=kept_address)
            await set_memberships(parts, by_provider, user, options.group_map, identity.external_groups)
    except Unknown:
        # Removed since the check.
        raise _removed(user) from None

    def require_same_user() -> None:
        if directory.version(f"user/{user}") != version:
            raise SignInFailed(f"user {user} was changed during the sign-in; begin again")

    return await begin_session(parts, request_id, user, role, require_same_user, kept_address)


def _require_new(directory: Directory, options: SignIn, user: str) -> None:
    if directory.version(f"user/{user}"):
        raise _removed(user)
    if not options.creates_users:
        raise SignInFailed(f"there is no user {user} here; an admin can add one")


async def _linkable_version(parts: WriteParts, user: str) -> int:
    """Return the version of a user whom the provider may authenticate. Raises SignInFailed, Unknown."""
    directory = parts.feed.directory
    entry = directory.get("user", user)
    if entry is None:
        raise Unknown(display_name("user", user))
    if not directory.roles_of(user):
        raise SignInFailed(f"user {user} has no role here; an admin can give one")
    if has_lasting_admin_access(directory, user) and not await asyncio.to_thread(
        _was_created_by_sign_in, parts, user, entry
    ):
        raise SignInFailed(
            f"{user} is an admin with a password or a token without an end, so the name alone is not enough; "
            "log in with the password"
        )
    return entry.version


def _was_created_by_sign_in(parts: WriteParts, user: str, entry: DirectoryEntry) -> bool:
    """Return whether a sign-in has registered the present user of the name. Blocking."""
    subject = f"user/{user}"
    history = parts.log.load({subject: 0})[subject]
    return any(each.position == entry.since and each.stamp.actor == SIGN_IN for each in history)


def _removed(user: str) -> SignInFailed:
    return SignInFailed(f"user {user} was removed here; an admin can add the user again")
