"""The first admin of a new log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from api.store.event_log import EventLog
from api.store.requests import Append, committed
from api.use_cases.tokens import digest_of, new_token
from domain.directory import roles
from domain.directory.events import TokenCreated, UserRegistered
from domain.directory.state import Directory
from domain.directory.tokens import Wanted, role_given
from domain.events import Change, Decided, Stamp

ADMIN = "admin"


def make_first_token(log: EventLog, now: datetime, keep: Callable[[str], None]) -> str | None:
    """A token of the user admin, or None when an admin has one already. Of two at once only one gets one.

    `keep` is given the token before it counts: one that counts and that nobody has would lock everybody out.
    """
    directory = Directory()
    for recorded in log.directory(log.end()):
        directory.apply(recorded)
    if any(entry.document["role"] == "admin" for _, entry in directory.items("token")):
        return None
    token = new_token()
    keep(token)
    stamp = Stamp(now, ADMIN, "request/first-start")
    changes = tuple(Change(subject, event, stamp) for subject, event in _first(directory, digest_of(token)))
    expected = {change.subject: directory.version(change.subject) for change in changes}
    (outcome,) = log.append([Append("first-start", changes, expected)])
    return None if committed(outcome).repeated else token


def _first(directory: Directory, digest: str) -> Decided:
    decided = role_given(directory, Wanted(ADMIN, roles.ADMIN))
    if directory.get("user", ADMIN) is None:
        decided = [(f"user/{ADMIN}", UserRegistered(roles=[roles.ADMIN]))]
    made = TokenCreated(user=ADMIN, role=roles.ADMIN, lab_controller=None, digest=digest)
    return [*decided, ("token/admin", made)]
