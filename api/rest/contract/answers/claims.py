"""Answers about claims."""

from __future__ import annotations

from api.rest.contract.answers.common import AnswerPart, ListAnswer, ReadAnswer
from api.rest.contract.values import Id, Time


class RecipeClaim(AnswerPart):
    """The claim of a recipe; `forced`: the recipe forces the system, so that the claim does not run out."""

    system: str
    forced: bool
    since: Time


class ListedClaim(RecipeClaim):
    """The right of a waiting recipe to a busy system, which asks it first when it comes free."""

    recipe_id: Id
    recipe_set_id: Id
    job_id: Id
    owner: str
    group: str | None
    since_position: int


class ShownClaim(ReadAnswer, ListedClaim):
    pass


class ClaimList(ListAnswer):
    claims: list[ListedClaim]
