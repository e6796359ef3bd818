"""Answers about resource locks."""

from __future__ import annotations

from api.rest.contract.answers.common import AnswerPart, ListAnswer
from api.rest.contract.values import Id, LockLevel, LockMode, LockState, Time


class Lock(AnswerPart):
    """A resource lock that a recipe holds, or that its set awaits. Without a `name`, it is on everything.

    The name at the level whole_lab is that of the lab. For an awaited lock, `waits_for` has the first of
    `waits_for_count` recipe sets that hold conflicting locks or get theirs first. `overtaken` is the number
    of sets behind it that got conflicting locks; when the set is `owed` its locks, no more of them do.
    """

    level: LockLevel
    name: str | None
    mode: LockMode
    state: LockState
    recipe_id: Id
    recipe_set_id: Id
    job_id: Id
    owner: str
    group: str | None
    lab_controller: str
    since: Time
    since_position: int
    overtaken: int | None
    owed: bool | None
    waits_for: list[Id]
    waits_for_count: int


class LockList(ListAnswer):
    locks: list[Lock]
