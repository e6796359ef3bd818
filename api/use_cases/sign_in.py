"""Sign-in: a person whom the identity provider has authenticated gets a token that expires."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from api.oidc.errors import SignInFailed
from api.oidc.identity import Identity
from api.oidc.sign_in import SignIn
from api.use_cases.external_groups import set_memberships
from api.use_cases.log_in import NewLogin, begin_session
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.put_document import put_document
from api.use_cases.tokens import FIRST_START
from domain.directory.actors import SIGN_IN
from domain.directory.admins import has_lasting_admin_access
from domain.directory.roles import ADMIN, SUBMITTER
from domain.directory.state import Directory, DirectoryEntry
from domain.errors import Stale, Unknown, display_name

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

    The user is the one of the same name (docs/decisions/0045). Raises SignInFailed for a removed user, for
    the admin of the first start, for one with other credentials whom no sign-in has created, and for a new
    user if the service creates none.
    Raises NotPermitted and Refused as `log_in` does.
    """
    directory, user = parts.feed.directory, identity.user
    await parts.feed.catch_up()
    if directory.get("user", user) is None:
        _require_new(directory, options, user)
        # Only a new user: a put would replace the document of one that an admin registers meanwhile.
        new = frozenset({0})
        by_service = RequestContext(SIGN_IN, request_id, is_admin=True, expected=new, address=kept_address)
        with suppress(Stale):
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
    folded = user.casefold()
    if twins := [name for name, _ in directory.items("user") if name.casefold() == folded]:
        raise SignInFailed(
            f"{user} is no user here, but {twins[0]} is: the identity provider must give the name in the "
            "same upper and lower case"
        )
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
    if ADMIN in directory.roles_of(user):
        has_credentials = has_lasting_admin_access(directory, user)
        await asyncio.to_thread(_require_linkable_admin, parts, user, entry, has_credentials)
    return entry.version


def _require_linkable_admin(
    parts: WriteParts, user: str, entry: DirectoryEntry, has_credentials: bool
) -> None:
    """Raise SignInFailed for an admin for whom the name alone is not enough. Blocking."""
    subject = f"user/{user}"
    history = [each for each in parts.log.load({subject: 0})[subject] if each.position >= entry.since]
    # Also after its first token has ended: nobody has chosen a person of the provider for this admin.
    if any(each.stamp.cause == FIRST_START for each in history):
        raise SignInFailed(
            f"{user} is the admin of the first start, so the name alone is not enough; "
            "another admin can remove and add the user"
        )
    was_created_by_sign_in = any(
        each.position == entry.since and each.stamp.actor == SIGN_IN for each in history
    )
    if has_credentials and not was_created_by_sign_in:
        raise SignInFailed(
            f"{user} is an admin with a password or a token without an end, so the name alone is not enough; "
            "log in with the password"
        )


def _removed(user: str) -> SignInFailed:
    return SignInFailed(f"user {user} was removed here; an admin can add the user again")
