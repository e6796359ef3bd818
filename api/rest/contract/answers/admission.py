"""Answers about the admission of recipe sets."""

from __future__ import annotations

from typing import Annotated, Literal

from api.rest.contract.answers.common import AnswerPart
from api.rest.contract.values import Id, OneOf, ReasonCode
from domain.admission.dependencies import FINAL_STATES
from domain.admission.job_filters import ACTIONS


class CurrentReason(AnswerPart):
    """The main reason why a recipe waits now: a `code` for programs, and a sentence about the recipe."""

    code: ReasonCode
    text: str


class HeldBackBy(AnswerPart):
    """A rule of admission that keeps the recipe set from its first system."""

    row: Literal["dependency", "job-filter", "queue-state", "rate-limit", "placed-recipes", "queue"]
    reason: str


class Dependency(AnswerPart):
    """The job or recipe set that must end first, and the states in which the dependent goes on."""

    job: Id | None = None
    recipe_set: Id | None = None
    states: list[Annotated[str, OneOf(FINAL_STATES)]]


class ApplyingFilter(AnswerPart):
    name: str
    action: Annotated[str, OneOf(ACTIONS)]


class Bucket(AnswerPart):
    """The sets with the reason `rate-limit:LIMIT:LABEL`: at most `limit` of them are placed at once."""

    limit: int
    label: str
