"""Creation and revocation of tokens, which are shown once and stored as digests; the token of a new log."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Callable
from datetime import datetime
from itertools import count
from typing import Final

import orjson

from api.use_cases.commit import append_for, commit_directory, require_expected
from api.use_cases.idempotency import done_before, require_same
from api.use_cases.ports import NameParts, RequestContext, WriteParts
from api.use_cases.rights import require_self
from domain.directory import roles
from domain.directory.admins import can_any_admin_log_in
from domain.directory.events import TokenCreated, UserRegistered
from domain.directory.roles import GIVEN_BY_ADMINS, LAB_CONTROLLER
from domain.directory.state import Directory
from domain.directory.tokens import TokenRequest, faults_of, revoke, role_given
from domain.errors import FaultyInput, NotPermitted, Unknown, display_name
from domain.events import Change, Decided, Stamp
from domain.rfc3339 import rfc3339
from store.event_log import EventLog
from store.requests import AppendRequest, Committed, require_committed


def digest_of(token: str) -> str:
    # A token has 256 random bits, so a slow hash is not needed.
    return hashlib.sha256(token.encode()).hexdigest()


def is_valid_token(parts: NameParts, token_id: str) -> bool:
    """Return whether a token is still valid."""
    return parts.feed.directory.is_valid_token(token_id, parts.clock())


def new_token() -> str:
    return "ll_" + secrets.token_urlsafe(32)


def new_token_id() -> str:
    return secrets.token_hex(6)


async def create_token(
    parts: WriteParts,
    request: RequestContext,
    user: str,
    role: str,
    lab_controller: str | None,
    expires_at: datetime | None = None,
) -> tuple[str | None, str, int]:
    """Create a token; return it, its id, and the log position from which it is valid.

    A repeated request with the same Idempotency-Key gets the id of the first token, but not the token. An
    admin who creates a token of a new role gives the role to the user. Raises FaultyInput with all faults,
    NotPermitted for a token of another user unless an admin asks, and Refused at the quota.
    """
    require_self(request, user, "create tokens for others")
    if (done := await done_before(parts.log, request)) is not None:
        return None, _token_id(done), done.position
    await parts.feed.catch_up()
    wanted = TokenRequest(user, role, lab_controller, expires_at)
    token, token_id = new_token(), new_token_id()

    def decide() -> AppendRequest:
        return _decide(parts, request, wanted, token, token_id)

    created = await commit_directory(parts, request, f"token/{token_id}", decide)
    assert created is not None, "a token is always something new"
    if created.repeated:
        require_same(request, created)
        return None, _token_id(created), created.position
    return token, token_id, created.position


def _decide(
    parts: WriteParts, request: RequestContext, wanted: TokenRequest, token: str, token_id: str
) -> AppendRequest:
    faults = faults_of(
        parts.feed.directory, wanted, parts.clock(), is_admin=request.is_admin, asking=request.token_id
    )
    if faults:
        raise FaultyInput(faults)
    require_token_quota(parts, wanted)
    return token_append(parts, request, wanted, token, token_id)


def require_token_quota(parts: WriteParts, wanted: TokenRequest) -> None:
    """Raise Refused at the quota of live tokens. Those of lab controllers, made by admins, do not count."""
    directory = parts.feed.directory
    if wanted.role != LAB_CONTROLLER:
        live = directory.valid_tokens(wanted.user, parts.clock())
        ends = (entry.document["expires_at"] for entry in live if entry.document["role"] != LAB_CONTROLLER)
        parts.quotas.require_token(wanted.user, ends)


def token_append(
    parts: WriteParts, request: RequestContext, wanted: TokenRequest, token: str, token_id: str
) -> AppendRequest:
    """Return the append that makes a token valid; its stored answer is {"token_id"}."""
    directory = parts.feed.directory
    event = TokenCreated(
        user=wanted.user,
        role=wanted.role,
        lab_controller=wanted.lab_controller,
        digest=digest_of(token),
        expires_at=None if wanted.expires_at is None else rfc3339(wanted.expires_at),
    )
    # A concurrent removal of the user or lab controller has to be a conflict.
    named = [f"user/{wanted.user}"]
    named += [f"lab-controller/{wanted.lab_controller}"] if wanted.lab_controller else []
    versions = {subject: directory.version(subject) for subject in named}
    decided = [*role_given(directory, wanted), (f"token/{token_id}", event)]
    return append_for(parts, request, decided, versions, answer=orjson.dumps({"token_id": token_id}))


def _token_id(done: Committed) -> str:
    return str(orjson.loads(done.answer or b"{}")["token_id"])


def _creation(parts: WriteParts, token_id: str) -> tuple[TokenCreated, int]:
    """Return the first event and the version of a token, which need not be valid. Raises Unknown."""
    subject = f"token/{token_id}"
    past = parts.log.load({subject: 0})[subject]
    if not past:
        raise Unknown(display_name("token", token_id))
    created = past[0].event
    assert isinstance(created, TokenCreated), "the first event of a token creates it"
    return created, past[-1].version


def version_of(parts: WriteParts, token_id: str) -> int:
    """Return the version of a token, which need not be valid. Blocking. Raises Unknown."""
    return _creation(parts, token_id)[1]


def require_may_revoke(parts: WriteParts, request: RequestContext, token_id: str) -> None:
    """Raise NotPermitted as `revoke_token` does, or Unknown. Blocking."""
    created, _ = _creation(parts, token_id)
    _may_revoke(request, token_id, created)


def _may_revoke(request: RequestContext, token_id: str, created: TokenCreated) -> None:
    require_self(request, created.user, "revoke tokens of others")
    role = created.role
    if role in GIVEN_BY_ADMINS and not request.is_admin and request.token_id != token_id:
        raise NotPermitted(f"only an admin, or the token itself, may revoke a token of the role {role}")


async def revoke_token(
    parts: WriteParts, request: RequestContext, token_id: str, reason: str | None = None
) -> Committed | None:
    """Revoke a token; return None if it was revoked, or has long expired.

    Raises Unknown, Refused for the last credential of the last admin, and NotPermitted for a token of another
    user, or of a role that only admins give unless it revokes itself. Admins may revoke any token.
    """
    directory, subject = parts.feed.directory, f"token/{token_id}"
    if directory.get("token", token_id) is None:
        await parts.feed.catch_up()
    created, version = await asyncio.to_thread(_creation, parts, token_id)
    _may_revoke(request, token_id, created)
    if directory.get("token", token_id) is None:
        require_expected(request, subject, version)
        return None

    def decide() -> AppendRequest | None:
        decided, left = revoke(directory, token_id, reason)
        versions = {other: directory.version(other) for other in (subject, *left)}
        return append_for(parts, request, decided, versions) if decided else None

    return await commit_directory(parts, request, subject, decide)


ADMIN = "admin"
FIRST_START: Final = "request/first-start"
"""The cause of the events that give the user admin a token."""


def make_first_token(log: EventLog, now: datetime, keep: Callable[[str], None]) -> str | None:
    """Create a token of the user admin; return None if an admin can log in, or a concurrent call created it.

    `keep` stores the token before it becomes valid: if a valid token got lost, nobody could log in.
    """
    directory = Directory()
    for recorded in log.directory(log.end()):
        directory.apply(recorded)
    if can_any_admin_log_in(directory, now):
        return None
    token, token_id = new_token(), _free_token_id(log)
    keep(token)
    stamp = Stamp(now, ADMIN, FIRST_START, token_id=token_id)
    changes = tuple(
        Change(subject, event, stamp)
        for subject, event in _first_token(directory, token_id, digest_of(token))
    )
    expected = {change.subject: directory.version(change.subject) for change in changes}
    (outcome,) = log.append([AppendRequest(f"first-start{token_id.removeprefix(ADMIN)}", changes, expected)])
    return None if require_committed(outcome).repeated else token


def _free_token_id(log: EventLog) -> str:
    """Return the first unused token id: admin, then admin-2 and so on if earlier tokens exist."""
    names = (ADMIN if number == 1 else f"{ADMIN}-{number}" for number in count(1))
    return next(name for name in names if not log.load({(subject := f"token/{name}"): 0})[subject])


def _first_token(directory: Directory, token_id: str, digest: str) -> Decided:
    decided = role_given(directory, TokenRequest(ADMIN, roles.ADMIN))
    if directory.get("user", ADMIN) is None:
        decided = [(f"user/{ADMIN}", UserRegistered(roles=[roles.ADMIN]))]
    created = TokenCreated(user=ADMIN, role=roles.ADMIN, lab_controller=None, digest=digest)
    return [*decided, (f"token/{token_id}", created)]
