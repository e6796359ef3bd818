"""Answers about why."""

from __future__ import annotations

from typing import Literal

from api.rest.contract.answers.common import Answer, FaultShape, ReadAnswer, Shape
from api.rest.contract.values import Id, PriorityName, RecipeState, Time, UsageState


class RuleTold(Shape):
    """How many systems the rule lets through by itself, and how many are left after it and all before it."""

    name: str
    reason: str
    passes: int
    left: int


class Counted(Shape):
    """Systems: known at all, and by what they are to the recipe. The `usable` ones it might have, now or when
    they come free; on `first_in_order` of these nobody is asked before it.
    """

    known: int
    viable: int
    usable: int
    idle: int
    not_allowed: int
    lent: int
    first_in_order: int


class HolderTold(Shape):
    """The recipe or person that has a system. `until` is the time at which the service takes the system back:
    the end of a reservation, of the time for which a recipe keeps it (`reservesys`), or of a watchdog.
    """

    usage: UsageState
    recipe_id: Id | None
    user: str | None
    since: Time
    since_position: int
    until: Time | None
    until_by: Literal["watchdog", "reservation", "reservesys"] | None


class PriorityChange(Shape):
    """The last change of a recipe set's priority: its event, and the person or process behind it."""

    actor: str
    position: int
    at: Time
    was: PriorityName
    became: PriorityName


class Ahead(Shape):
    """A recipe that the system asks before this one, and by what."""

    recipe_id: Id
    priority: PriorityName
    effective_priority: PriorityName
    by: str
    priority_change: PriorityChange | None


class Candidate(Shape):
    """A system; `before` counts the recipes that it asks before this one, `ahead` are the first of these."""

    fqdn: str
    lab_controller: str
    verdict: Literal["never", "not allowed", "not now", "passed over"]
    reasons: list[str]
    holder: HolderTold | None
    effective_priority: PriorityName | None
    before: int | None
    ahead: list[Ahead]


class Waiting(Shape):
    """`systems` are those that could run it, nearest first, and those that could but for a loan or access;
    as many as were asked for, of `systems_count`.
    """

    rules: list[RuleTold]
    counted: Counted
    systems: list[Candidate]
    systems_count: int


class Rival(Shape):
    """Another recipe that the system was asked about, and why it did not get it."""

    recipe_id: Id
    priority: PriorityName
    effective_priority: PriorityName
    why: str
    priority_change: PriorityChange | None


class Choice(Shape):
    """An idle system that a new recipe could have had, by what decides between them."""

    fqdn: str
    pool: str | None
    own: bool
    takers: int


class Granted(Shape):
    """`passed_over` stood before the recipe, `behind` next after it; `choices` in the order of preference.

    The last two have their first entries only, of `behind_count` and `choices_count`.
    """

    position: int
    summary: str
    system: str
    cause: str
    effective_priority: PriorityName
    passed_over: list[Rival]
    behind: list[Rival]
    behind_count: int
    choices: list[Choice]
    choices_count: int


class Explanation(ReadAnswer):
    """Why a recipe waits (`waiting`), or why it got its system (`granted`). Of one that was given up without
    a system `waiting` is how it stood then; of one that a person ended without one there is neither.
    """

    recipe_id: Id
    host_recipe_id: Id | None
    recipe_set_id: Id
    job_id: Id
    state: RecipeState
    priority: PriorityName | None = None
    priority_change: PriorityChange | None = None
    owner: str
    group: str | None
    system: str | None
    lab_controller: str | None
    summary: str
    waiting: Waiting | None
    granted: Granted | None


class Match(Shape):
    """`reasons` are all that keep the system from being viable."""

    fqdn: str
    viable: bool
    reasons: list[str]


class RecipeMatches(Shape):
    """`where` a recipe that needs a system stands in its job; nowhere for a host requirement alone."""

    where: str
    systems: list[Match]


class Matches(Answer):
    """`systems` are viable for some of the recipes."""

    systems: list[Match]
    recipes: list[RecipeMatches]
    warnings: list[FaultShape]
