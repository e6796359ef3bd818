"""Credentials: the tokens by digest, and the id of the present password of each user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from heapq import heappop, heappush
from typing import Any, NamedTuple

from domain.directory import events as directory_events
from domain.events import Recorded


class HeldToken(NamedTuple):
    """The fields of a token that are needed to find and to drop the token."""

    digest: str
    user: str
    lab_controller: str | None
    expires_at: str | None


class Credentials:
    """Mutable: `apply` the events of users, lab controllers and tokens in order.

    The credentials of a removed user are dropped, because the name may later belong to another user. A user
    who left LDAP loses them, too. Revoked
    and expired tokens are dropped to bound the memory, because each login creates a token.
    """

    def __init__(self) -> None:
        self._held: dict[str, HeldToken] = {}
        self._digests: dict[str, str] = {}
        self._of_user: dict[str, dict[str, None]] = {}
        # Heap of (expiry time, token id).
        self._ends: list[tuple[datetime, str]] = []
        self._passwords: dict[str, str] = {}

    def apply(self, name: str, recorded: Recorded) -> list[str]:
        """Apply an event of the entry `name`; return the ids of the tokens that the caller must drop."""
        event = recorded.event
        if isinstance(event, directory_events.TokenCreated):
            self._hold(name, HeldToken(event.digest, event.user, event.lab_controller, event.expires_at))
            # The earlier time of both clocks, so that a fast clock drops no token too early.
            return self._drop(self._pop_expired(min(recorded.recorded_at, recorded.stamp.at)))
        if isinstance(event, directory_events.TokenRevoked):
            self._drop([name])
            # Returned also if the token had expired: this event created a directory entry for it again.
            return [name]
        if isinstance(event, directory_events.UserPasswordSet):
            self._passwords[name] = event.password_id
        elif isinstance(event, directory_events.UserRemoved | directory_events.UserLeftLdap):
            self._passwords.pop(name, None)
            # No event revokes a token that was created concurrently.
            return self._drop(list(self.tokens_of(name)))
        elif isinstance(event, directory_events.LabControllerRemoved):
            tokens = self._held.items()
            return self._drop([token_id for token_id, token in tokens if token.lab_controller == name])
        return []

    def _pop_expired(self, now: datetime) -> list[str]:
        """Remove the expired tokens from the heap, and return their ids."""
        expired = []
        while self._ends and self._ends[0][0] <= now:
            expired.append(heappop(self._ends)[1])
        return expired

    def _hold(self, token_id: str, held: HeldToken) -> None:
        self._held[token_id] = held
        self._digests[held.digest] = token_id
        self._of_user.setdefault(held.user, {})[token_id] = None
        if held.expires_at is not None:
            heappush(self._ends, (datetime.fromisoformat(held.expires_at), token_id))

    def _drop(self, token_ids: Iterable[str]) -> list[str]:
        """Drop the tokens that are held, and return their ids."""
        dropped = [token_id for token_id in token_ids if token_id in self._held]
        for token_id in dropped:
            held = self._held.pop(token_id)
            self._digests.pop(held.digest, None)
            of_user = self._of_user[held.user]
            del of_user[token_id]
            if not of_user:
                del self._of_user[held.user]
        return dropped

    def token_id(self, digest: str) -> str | None:
        return self._digests.get(digest)

    def tokens_of(self, user: str) -> Iterator[str]:
        """Yield the ids of the user's tokens."""
        yield from self._of_user.get(user, ())

    def password_of(self, user: str) -> str | None:
        return self._passwords.get(user)

    def plain(self) -> dict[str, Any]:
        return {
            "held": {token_id: list(held) for token_id, held in self._held.items()},
            "passwords": dict(self._passwords),
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Restore the state from the result of `plain`, before any `apply`."""
        for token_id, held in values["held"].items():
            self._hold(token_id, HeldToken(*held))
        self._passwords = dict(values["passwords"])
