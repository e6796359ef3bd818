"""Answers about access policies and loans."""

from __future__ import annotations

from api.rest.contract.answers.common import Answer, AnswerPart, ReadAnswer
from api.rest.contract.values import Permission, PriorityName, Time


class PolicyEntry(AnswerPart):
    """A permission for either `user`, `group` or `everybody`; `submit` has a maximum effective priority."""

    permission: Permission
    user: str | None = None
    group: str | None = None
    everybody: bool | None = None
    maximum_effective_priority: PriorityName | None = None


class _OfPool(AnswerPart):
    pool: str
    entries: list[PolicyEntry]


class _OfSystem(AnswerPart):
    """`active_pool`: the pool whose policy applies instead of this one, except for `submit`."""

    fqdn: str
    entries: list[PolicyEntry]
    active_pool: str | None


class PoolPolicyShown(ReadAnswer, _OfPool):
    pass


class SystemPolicyShown(ReadAnswer, _OfSystem):
    pass


class PoolPolicyPut(Answer, _OfPool):
    changed: bool


class SystemPolicyPut(Answer, _OfSystem):
    changed: bool


class PoolPolicyRemoved(Answer):
    """`removed` is false if there was no policy."""

    pool: str
    removed: bool


class Loaned(Answer):
    fqdn: str
    user: str
    until: Time | None


class LoanEnded(Answer):
    """`ended` is false if the system was not on loan."""

    fqdn: str
    ended: bool
