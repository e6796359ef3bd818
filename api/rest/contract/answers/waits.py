"""Answers about waits, and estimates of them."""

from __future__ import annotations

from api.rest.contract.answers.common import AnswerPart, ListAnswer, ReadAnswer
from api.rest.contract.values import Id, RecipeState, Time


class WaitHistogram(AnswerPart):
    """The waits of recipes with one property; `key` is null for those without it.

    `seconds`: their sum. `buckets`: the number of recipes up to each bound, and above the last. The key of a
    requirement is a digest; the last recipe with it is `example_recipe_id`.
    """

    key: str | None
    recipes: int
    seconds: float
    p50_seconds: float
    p90_seconds: float
    buckets: list[int]
    example_recipe_id: Id


class Waits(ListAnswer):
    """Properties of most recipes come first. `bounds_seconds`: the inclusive upper bounds of buckets."""

    since: Time
    until: Time
    by: str
    bounds_seconds: list[float]
    groups: list[WaitHistogram]


class EstimateBasis(AnswerPart):
    """The compared recipes: those of a kind that waited as long, for their place in the queue.

    `since`: when the first of them began to wait, or the beginning of the compared time.
    """

    kind: str
    recipes: int
    started: int
    waiting: int
    since: Time | None
    words: str


class TimeLeft(AnswerPart):
    """The estimate of the time left, as in `Estimate`. `position`: that of the compared waits."""

    waited_seconds: float
    ahead: int
    p50_seconds: float | None
    p90_seconds: float | None
    more_than_seconds: float | None
    basis: EstimateBasis
    summary: str
    position: int


class Estimate(ReadAnswer):
    """The time left until a recipe starts, from now or `as_of`; all is null unless it waits.

    `p50_seconds` and `p90_seconds` are null if too few compared recipes have started; the time left is then
    `more_than_seconds`. `ahead`: the number of recipes ahead when the wait began.
    """

    recipe_id: Id
    state: RecipeState
    waited_seconds: float | None
    ahead: int | None
    p50_seconds: float | None
    p90_seconds: float | None
    more_than_seconds: float | None
    basis: EstimateBasis | None
    summary: str
