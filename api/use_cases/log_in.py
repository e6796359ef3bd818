"""Login: a password is exchanged for a token that expires."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from api.use_cases.commit import commit_directory
from api.use_cases.passwords import is_password
from api.use_cases.ports import PasswordParts, RequestContext, WriteParts
from api.use_cases.tokens import new_token, new_token_id, require_token_quota, token_append
from domain.directory.changes import unknown_role
from domain.directory.roles import LAB_CONTROLLER, ROLES
from domain.directory.tokens import TokenRequest
from domain.errors import Fault, FaultyInput, NotPermitted, NotRecognised
from store.requests import AppendRequest

TOKEN_LIFETIME: Final = timedelta(hours=12)


@dataclass(frozen=True)
class NewLogin:
    """A new token, which is valid from the log position `position`."""

    token: str
    token_id: str
    user: str
    role: str
    expires_at: datetime
    position: int


async def log_in(
    parts: PasswordParts,
    request_id: str,
    user: str,
    password: str,
    role: str | None = None,
    address: str | None = None,
    kept_address: str | None = None,
) -> NewLogin:
    """Create a token for 12 hours, with the given role or the user's first one.

    Raises FaultyInput for a role that people cannot have, NotRecognised for a wrong name or password,
    NotPermitted for a role that the user does not have, Refused at the quota of live tokens, and TooOften
    after several failures within a minute, with that name or from that address. `kept_address` is that of the
    client, None unless the service keeps addresses.
    """
    require_role_of_people(role)
    await parts.feed.catch_up()
    password_id = parts.feed.directory.credentials.password_of(user)
    if not await is_password(parts, user, password_id, password, address):
        raise NotRecognised("no user has this name and password")

    def require_same_password() -> None:
        if parts.feed.directory.credentials.password_of(user) != password_id:
            raise NotRecognised("the password was changed during the login; log in again")

    return await begin_session(parts, request_id, user, role, require_same_password, kept_address)


async def begin_session(
    parts: WriteParts,
    request_id: str,
    user: str,
    role: str | None,
    require: Callable[[], None],
    kept_address: str | None = None,
) -> NewLogin:
    """Create the token of a login. `require` raises unless the user may still get it.

    Raises NotPermitted and Refused as `log_in` does.
    """
    token, token_id, expires_at = new_token(), new_token_id(), parts.clock() + TOKEN_LIFETIME
    # The request has no token yet, so its event names the new one.
    request = RequestContext(user, request_id, token_id=token_id, address=kept_address)

    def decide() -> AppendRequest:
        require()
        wanted = TokenRequest(user, _role(parts, user, role), expires_at=expires_at)
        require_token_quota(parts, wanted)
        return token_append(parts, request, wanted, token, token_id)

    done = await commit_directory(parts, request, f"token/{token_id}", decide)
    assert done is not None, "a token is always something new"
    return NewLogin(token, token_id, user, _role(parts, user, role), expires_at, done.position)


def require_role_of_people(role: str | None) -> None:
    """Raise FaultyInput for a role that does not exist, or that people cannot have."""
    if role not in (None, *ROLES):
        raise FaultyInput([Fault("role", unknown_role(str(role)))])
    if role == LAB_CONTROLLER:
        message = "cannot be that of a lab controller; an admin creates its token with POST /tokens"
        raise FaultyInput([Fault("role", message)])


def _role(parts: WriteParts, user: str, wanted: str | None) -> str:
    """Return the role of the token. Raises NotPermitted if the user does not have it."""
    roles = [role for role in parts.feed.directory.roles_of(user) if role != LAB_CONTROLLER]
    if wanted is None and roles:
        return roles[0]
    if wanted is None or wanted not in roles:
        raise NotPermitted(f"{user} does not have {f'the role {wanted}' if wanted else 'any role'}")
    return wanted
