"""Answers about tokens, logins and the caller."""

from __future__ import annotations

from typing import Annotated

from api.rest.contract.answers.common import Answer, AnswerPart, ListAnswer, ReadAnswer
from api.rest.contract.values import OneOf, Time


class TokenMade(Answer):
    """`token` is answered only once: it is null if the request was repeated with its Idempotency-Key."""

    token_id: str
    token: str | None


class ListedToken(AnswerPart):
    token_id: str
    user: str
    role: str
    lab_controller: str | None
    created_at: Time
    expires_at: Time | None
    revoked: bool


class TokenList(ListAnswer):
    tokens: list[ListedToken]


class TokenShown(ReadAnswer, ListedToken):
    pass


class TokenRevoked(Answer):
    """`revoked` is false if the token was revoked before."""

    token_id: str
    revoked: bool


class LoginToken(AnswerPart):
    user: str
    role: str
    token: str
    token_id: str
    expires_at: Time


class LoggedIn(Answer, LoginToken):
    pass


class DeviceLoginBegun(Answer):
    """The user opens `verification_uri` in any browser, and enters `user_code` there.

    `verification_uri_complete` has the code, null if the provider gives no such address. Ask for the login
    with `device_code`, every `interval_seconds`, within `expires_in_seconds`.
    """

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    expires_in_seconds: int
    interval_seconds: int


class DeviceLoginState(Answer):
    """`state`: `pending`, `slow_down` (add 5 seconds to the interval, and go on), or `done` with `login`."""

    state: Annotated[str, OneOf(("pending", "slow_down", "done"))]
    login: LoginToken | None


class Whoami(Answer):
    user: str
    role: str
    lab_controller: str | None
    token_id: str


class PasswordSet(Answer):
    user: str
