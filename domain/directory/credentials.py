"""Credentials: the tokens by their digests, and the current password of each user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from heapq import heappop, heappush
from typing import Any, NamedTuple

from domain.directory import events as directory_events
from domain.events import Recorded


class HeldToken(NamedTuple):
    """The fields of a token that decide when it is dropped; its document has the rest."""

    digest: str
    user: str
    lab_controller: str | None
    expires_at: str | None


class Credentials:
    """Mutable: `apply` the events of users, lab controllers and tokens in order.

    The credentials of a removed user are dropped for good: the name may later belong to another user. Revoked
    and expired tokens are dropped too: each login creates one, and the log has them all.
    """

    def __init__(self) -> None:
        self._held: dict[str, HeldToken] = {}
        self._digests: dict[str, str] = {}
        self._of_user: dict[str, dict[str, None]] = {}
        # Heap of (end, token) of the tokens with an end.
        self._ends: list[tuple[datetime, str]] = []
        self._passwords: dict[str, str] = {}

    def apply(self, name: str, recorded: Recorded) -> list[str]:
        """Apply an event; return the ids of the tokens that it drops."""
        event = recorded.event
        if isinstance(event, directory_events.TokenCreated):
            self._hold(name, HeldToken(event.digest, event.user, event.lab_controller, event.expires_at))
            # The earlier of both clocks, so that a wrong clock drops no token too early.
            return self._forget(self._over_at(min(recorded.recorded_at, recorded.stamp.at)))
        if isinstance(event, directory_events.TokenRevoked):
            self._forget([name])
            # Also a token that expired before its revocation.
            return [name]
        if isinstance(event, directory_events.UserPasswordSet):
            self._passwords[name] = event.password_id
        elif isinstance(event, directory_events.UserRemoved):
            self._passwords.pop(name, None)
            # Also tokens created concurrently with the removal of the user, which no event revokes.
            return self._forget(list(self.tokens_of(name)))
        elif isinstance(event, directory_events.LabControllerRemoved):
            return self._forget([one for one, held in self._held.items() if held.lab_controller == name])
        return []

    def _over_at(self, moment: datetime) -> list[str]:
        """Return the tokens that have expired at this moment, and drop their ends."""
        over = []
        while self._ends and self._ends[0][0] <= moment:
            over.append(heappop(self._ends)[1])
        return over

    def _hold(self, token_id: str, held: HeldToken) -> None:
        self._held[token_id] = held
        self._digests[held.digest] = token_id
        self._of_user.setdefault(held.user, {})[token_id] = None
        if held.expires_at is not None:
            heappush(self._ends, (datetime.fromisoformat(held.expires_at), token_id))

    def _forget(self, token_ids: Iterable[str]) -> list[str]:
        gone = [token_id for token_id in token_ids if token_id in self._held]
        for token_id in gone:
            held = self._held.pop(token_id)
            self._digests.pop(held.digest, None)
            of_user = self._of_user[held.user]
            del of_user[token_id]
            if not of_user:
                del self._of_user[held.user]
        return gone

    def token_id(self, digest: str) -> str | None:
        return self._digests.get(digest)

    def tokens_of(self, user: str) -> Iterator[str]:
        """Return the ids of the user's tokens."""
        yield from self._of_user.get(user, ())

    def password_of(self, user: str) -> str | None:
        """Return the id of the user's password, None if there is none."""
        return self._passwords.get(user)

    def plain(self) -> dict[str, Any]:
        return {
            "held": {token_id: list(held) for token_id, held in self._held.items()},
            "passwords": dict(self._passwords),
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Restore the state from the result of `plain`; nothing was applied yet."""
        for token_id, held in values["held"].items():
            self._hold(token_id, HeldToken(*held))
        self._passwords = dict(values["passwords"])
