"""Who may come in: the tokens by their digests, and which password of each user counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from domain.directory import events as happened
from domain.events import Event


class Access:
    """Mutable: `apply` the events of users and tokens in order. What a token says stands in its document.

    What somebody had goes with them, for good: who has the name later is somebody else.
    """

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._of_user: dict[str, dict[str, None]] = {}
        self._passwords: dict[str, str] = {}

    def apply(self, name: str, event: Event) -> None:
        if isinstance(event, happened.TokenCreated):
            self._digests[event.digest] = name
            self._of_user.setdefault(event.user, {})[name] = None
        elif isinstance(event, happened.UserPasswordSet):
            self._passwords[name] = event.password_id
        elif isinstance(event, happened.UserRemoved):
            self._passwords.pop(name, None)
            self._forget_tokens(name)

    def _forget_tokens(self, user: str) -> None:
        """Also those that were made while the user was being removed, which no event revokes."""
        gone = self._of_user.pop(user, {})
        self._digests = {digest: token for digest, token in self._digests.items() if token not in gone}

    def token_id(self, digest: str) -> str | None:
        return self._digests.get(digest)

    def tokens_of(self, user: str) -> Iterator[str]:
        """The ids of all tokens the user ever had, since the name is theirs."""
        yield from self._of_user.get(user, ())

    def has_token(self, user: str, token_id: str) -> bool:
        return token_id in self._of_user.get(user, ())

    def password_of(self, user: str) -> str | None:
        """The id of the password that counts, if the user has one."""
        return self._passwords.get(user)

    def plain(self) -> dict[str, Any]:
        return {
            "digests": dict(self._digests),
            "of_user": {user: list(tokens) for user, tokens in self._of_user.items()},
            "passwords": dict(self._passwords),
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        self._digests = dict(values["digests"])
        self._of_user = {user: dict.fromkeys(tokens) for user, tokens in values["of_user"].items()}
        self._passwords = dict(values["passwords"])
