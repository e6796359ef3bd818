"""The first admin of a new log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from api.store.event_log import EventLog
from api.store.requests import Append, committed
from api.use_cases.tokens import digest_of, new_token
from domain.directory.events import TokenCreated, UserRegistered
from domain.directory.state import Directory
from domain.events import Change, Stamp

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
    made = TokenCreated(user=ADMIN, role="admin", lab_controller=None, digest=digest_of(token))
    changes = [Change("token/admin", made, stamp)]
    if directory.get("user", ADMIN) is None:
        changes.insert(0, Change(f"user/{ADMIN}", UserRegistered(), stamp))
    expected = {change.subject: 0 for change in changes}
    (outcome,) = log.append([Append("first-start", tuple(changes), expected)])
    return None if committed(outcome).repeated else token
