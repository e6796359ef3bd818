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
from domain.directory.actors import SIGN_IN
from domain.directory.roles import ADMIN, LAB_CONTROLLER, SUBMITTER
from domain.directory.state import Directory, DirectoryEntry
from domain.errors import NotPermitted, Stale, Unknown, display_name

NEW_USER: Final = {"roles": [SUBMITTER], "email": None}


async def sign_in(
    parts: WriteParts,
    options: SignIn,
    request_id: str,
    identity: Identity,
    role: str | None = None,
    kept_address: str | None = None,
    *,
    by_device: bool = False,
) -> NewLogin:
    """Create the token of a login, and before it the user and the memberships that the provider implies.

    The user is the one of the same name (docs/decisions/0045). Raises SignInFailed for a removed user, for an
    admin whom no sign-in has created, unless the options name this one, and for a new user if the service
    creates none. Raises NotPermitted and Refused as `log_in` does, and NotPermitted as
    `require_role_by_device` does.
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
        version = await _linkable_version(parts, options, user)
        if options.group_map:
            by_provider = RequestContext(SIGN_IN, request_id, address=kept_address)
            await set_memberships(parts, by_provider, user, options.group_map, identity.external_groups)
    except Unknown:
        # Removed since the check.
        raise _removed(user) from None

    if by_device:
        role = role or _default_role_by_device(directory, user)
        require_role_by_device(options, role)

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


async def _linkable_version(parts: WriteParts, options: SignIn, user: str) -> int:
    """Return the version of a user whom the provider may authenticate. Raises SignInFailed, Unknown."""
    directory = parts.feed.directory
    entry = directory.get("user", user)
    if entry is None:
        raise Unknown(display_name("user", user))
    if not directory.roles_of(user):
        raise SignInFailed(f"user {user} has no role here; an admin can give one")
    if ADMIN in directory.roles_of(user) and user not in options.admins:
        await asyncio.to_thread(_require_created_by_sign_in, parts, user, entry)
    return entry.version


def _require_created_by_sign_in(parts: WriteParts, user: str, entry: DirectoryEntry) -> None:
    """Raise SignInFailed for an admin for whom the name alone is not enough. Blocking.

    Nobody has said that this admin is the person of that name at the provider, where people may be able to
    register themselves.
    """
    subject = f"user/{user}"
    history = parts.log.load({subject: 0})[subject]
    if not any(each.position == entry.since and each.stamp.actor == SIGN_IN for each in history):
        raise SignInFailed(
            f"{user} is an admin whom no sign-in has created, so the name alone is not enough; log in with a "
            "password, or have the operator add the name to LABLEDGER_OIDC_ADMINS"
        )


def require_role_by_device(options: SignIn, role: str | None) -> None:
    """Raise NotPermitted for the role admin, unless the options admit it in the device flow.

    Somebody may talk an admin into entering a code: the page of the provider does not show the role.
    """
    if role == ADMIN and not options.admits_device_admins:
        raise NotPermitted(
            "a login with --sso has no role admin here; log in with a password, or sign in on the web pages"
        )


def _default_role_by_device(directory: Directory, user: str) -> str | None:
    """Return the role without a wish: no more rights than needed, so admin only for those with no other."""
    roles = [role for role in directory.roles_of(user) if role != LAB_CONTROLLER]
    if SUBMITTER in roles:
        return SUBMITTER
    return next((role for role in roles if role != ADMIN), next(iter(roles), None))


def _removed(user: str) -> SignInFailed:
    return SignInFailed(f"user {user} was removed here; an admin can add the user again")
