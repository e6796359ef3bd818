"""Who may come in: the tokens by their digests, and which password of each user counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from heapq import heappop, heappush
from typing import Any, NamedTuple

from domain.directory import events as happened
from domain.events import Recorded


class Held(NamedTuple):
    """What of a token decides how long it is held; the rest stands in its document."""

    digest: str
    user: str
    lab_controller: str | None
    expires_at: str | None


class Credentials:
    """Mutable: `apply` the events of users, lab controllers and tokens in order.

    What somebody had goes with them, for good: who has the name later is somebody else. Tokens that are
    revoked or over go, too: each login makes one, and the log has them all.
    """

    def __init__(self) -> None:
        self._held: dict[str, Held] = {}
        self._digests: dict[str, str] = {}
        self._of_user: dict[str, dict[str, None]] = {}
        # (end, token) of those that have one, the first to end first.
        self._ends: list[tuple[datetime, str]] = []
        self._passwords: dict[str, str] = {}

    def apply(self, name: str, recorded: Recorded) -> list[str]:
        """The ids of the tokens that are held no longer."""
        event = recorded.event
        if isinstance(event, happened.TokenCreated):
            self._hold(name, Held(event.digest, event.user, event.lab_controller, event.expires_at))
            # Where a clock is wrong, no token goes before its time by the other one.
            return self._forget(self._over_at(min(recorded.recorded_at, recorded.stamp.at)))
        if isinstance(event, happened.TokenRevoked):
            self._forget([name])
            # Also one that was over before somebody got to revoking it.
            return [name]
        if isinstance(event, happened.UserPasswordSet):
            self._passwords[name] = event.password_id
        elif isinstance(event, happened.UserRemoved):
            self._passwords.pop(name, None)
            # Also those that were made while the user was being removed, which no event revokes.
            return self._forget(list(self.tokens_of(name)))
        elif isinstance(event, happened.LabControllerRemoved):
            return self._forget([one for one, held in self._held.items() if held.lab_controller == name])
        return []

    def _over_at(self, moment: datetime) -> list[str]:
        """Only what makes tokens more has a reason to look."""
        over = []
        while self._ends and self._ends[0][0] <= moment:
            over.append(heappop(self._ends)[1])
        return over

    def _hold(self, token_id: str, held: Held) -> None:
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
        """The ids of the user's tokens that are held."""
        yield from self._of_user.get(user, ())

    def password_of(self, user: str) -> str | None:
        """The id of the password that counts, if the user has one."""
        return self._passwords.get(user)

    def plain(self) -> dict[str, Any]:
        return {
            "held": {token_id: list(held) for token_id, held in self._held.items()},
            "passwords": dict(self._passwords),
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Into one that is new."""
        for token_id, held in values["held"].items():
            self._hold(token_id, Held(*held))
        self._passwords = dict(values["passwords"])
