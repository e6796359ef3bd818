"""The token of the first admin of a new log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import count

from api.use_cases.tokens import digest_of, new_token
from domain.directory import roles
from domain.directory.admins import can_any_admin_log_in
from domain.directory.events import TokenCreated, UserRegistered
from domain.directory.state import Directory
from domain.directory.tokens import TokenRequest, role_given
from domain.events import Change, Decided, Stamp
from store.event_log import EventLog
from store.requests import AppendRequest, require_committed

ADMIN = "admin"


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
    stamp = Stamp(now, ADMIN, "request/first-start")
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
