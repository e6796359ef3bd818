"""Answers about tokens, logins and the caller."""

from __future__ import annotations

from api.rest.contract.answers.common import Answer, AnswerPart, ListAnswer, ReadAnswer
from api.rest.contract.values import Time


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


class LoggedIn(Answer):
    user: str
    role: str
    token: str
    token_id: str
    expires_at: Time


class Whoami(Answer):
    user: str
    role: str
    lab_controller: str | None
    token_id: str


class PasswordSet(Answer):
    user: str
