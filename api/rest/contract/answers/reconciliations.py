"""Answers about reconciliations."""

from __future__ import annotations

from api.rest.contract.answers.common import Answer, AnswerPart, ListAnswer
from api.rest.contract.values import Id, Time


class Reconciliation(AnswerPart):
    """A system on which something runs that does not have it, until it is vacant or an admin resolves this.

    `recipe_id` and `attempt` are those of the report, null if it named no recipe or one that does not exist.
    """

    id: int
    system: str
    lab_controller: str
    reason: str
    recipe_id: Id | None
    attempt: int | None
    since: Time


class RejectedItem(AnswerPart):
    """A refused item of the present registration of a lab controller; `system` is null if it names none."""

    lab_controller: str
    instance: str
    system: str | None
    reason: str


class ReconciliationList(ListAnswer):
    """`rejected`: on every page, at most 100 of each lab controller."""

    reconciliations: list[Reconciliation]
    rejected: list[RejectedItem]


class Resolved(Answer):
    id: int
    resolved: bool
