"""Explanations, and systems that match."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from api.rest.contract.answers.admission import CurrentReason, HeldBackBy
from api.rest.contract.answers.common import Answer, AnswerPart, FaultShape, ReadAnswer
from api.rest.contract.answers.waits import TimeLeft
from api.rest.contract.values import Id, PriorityName, RecipeState, Time, UsageState


class RuleCount(AnswerPart):
    """`passes`: systems that pass this rule alone; `left`: those that also pass all rules before it."""

    name: str
    reason: str
    passes: int
    left: int


class Counted(AnswerPart):
    """Counts of systems by their relation to the recipe.

    The `usable` ones could get the recipe, now or when they become free. `first_in_order` counts those of
    them on which no other recipe is ahead of it.
    """

    registered: int = Field(alias="known")
    viable: int
    usable: int
    idle: int
    not_allowed: int
    lent: int
    first_in_order: int


class Occupant(AnswerPart):
    """The recipe or person that has a system.

    `until` is the time at which the service takes the system back: the end of a reservation, of the time for
    which a recipe keeps its system (`reservesys`), or of a watchdog.
    """

    usage: UsageState
    recipe_id: Id | None
    user: str | None
    since: Time
    since_position: int
    until: Time | None
    until_by: Literal["watchdog", "reservation", "reservesys"] | None


class PriorityChange(AnswerPart):
    """The last change of a recipe set's priority, with its actor and event."""

    actor: str
    position: int
    at: Time
    was: PriorityName
    became: PriorityName


class Ahead(AnswerPart):
    """A recipe that is ahead of this one on the system; `by` says why. Without weights, `weight` is null."""

    recipe_id: Id
    priority: PriorityName
    effective_priority: PriorityName
    weight: float | None
    by: str
    priority_change: PriorityChange | None


class Candidate(AnswerPart):
    """A candidate system; `before` counts the recipes that are ahead of this one, `ahead` lists the first."""

    fqdn: str
    lab_controller: str
    verdict: Literal["never", "not allowed", "not now", "passed over"]
    reasons: list[str]
    holder: Occupant | None
    effective_priority: PriorityName | None
    before: int | None
    ahead: list[Ahead]


class Overtaken(AnswerPart):
    """The number of times that the recipe's set was overtaken, and the `bound`, null without one.

    At the bound the set comes before the recipes of later sets of no higher priority that have systems.
    """

    count: int
    bound: int | None


class Waiting(AnswerPart):
    """`reason`: the main reason, about which the `summary` says more.

    `held_back`: the dependencies, job filters and limits that keep the set from its first system.
    `systems`: those that could run the recipe, nearest first, and those that only a loan or an access
    policy excludes; at most `limit` of `systems_count`. `weight` is null if weights are off. `preemption`:
    when the set preempts others, or why nobody gives way, if its queue is below its guarantee.
    """

    reason: CurrentReason
    held_back: list[HeldBackBy]
    preemption: str | None
    weight: float | None
    overtaken: Overtaken
    rules: list[RuleCount]
    counted: Counted
    systems: list[Candidate]
    systems_count: int


class Rival(AnswerPart):
    """Another recipe that the scheduler considered for the system; `why` it did not get the system."""

    recipe_id: Id
    priority: PriorityName
    effective_priority: PriorityName
    weight: float | None
    why: str
    priority_change: PriorityChange | None


class Choice(AnswerPart):
    """An idle system that a new recipe could have got, with the criteria of the choice."""

    fqdn: str
    pool: str | None
    own: bool
    takers: int


class Granted(AnswerPart):
    """`passed_over` were ahead of the recipe, `behind` after it; `choices` are in the order of preference.

    `behind` and `choices` have only the first of `behind_count` and `choices_count` entries. `weight` is as
    of the decision, null without weights.
    """

    position: int
    summary: str
    system: str
    cause: str
    effective_priority: PriorityName
    weight: float | None
    passed_over: list[Rival]
    behind: list[Rival]
    behind_count: int
    choices: list[Choice]
    choices_count: int


class LockBlocker(AnswerPart):
    """A recipe set that, `since` a time, holds conflicting locks, or waits for locks and gets them first."""

    recipe_set_id: Id
    job_id: Id
    why: str
    since: Time
    since_position: int


class Locking(AnswerPart):
    """A set that waits for its resource `locks`. `waits_for` has the first of `waits_for_count` sets.

    `overtaken` counts the sets behind it that got conflicting locks. At `max_overtaken` the set is `owed`
    its locks: no set behind it gets conflicting ones.
    """

    recipe_set_id: Id
    locks: dict[str, Any]
    since: Time
    since_position: int
    overtaken: int
    max_overtaken: int
    owed: bool
    waits_for: list[LockBlocker]
    waits_for_count: int


class Explanation(ReadAnswer):
    """The reason why a recipe waits (`waiting`), or why it got its system (`granted`).

    While its set has all systems and waits for its resource locks, `locking` says who is in its way.

    For a recipe that was aborted without a system, `waiting` is as of that moment. A recipe that a person
    ended without a system has neither.
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
    locking: Locking | None


class Match(AnswerPart):
    """`reasons`: everything that keeps the system from being viable."""

    fqdn: str
    viable: bool
    reasons: list[str]


class RecipeMatches(AnswerPart):
    """`where`: the location of the recipe in its job, empty for a host requirement alone.

    `why_never`: the reason with which the recipe would be aborted if the job were submitted now, because no
    lab could ever run its set; else null. Numbers of recipes in it count within the set from 1, guests after
    their hosts. `estimate`: when it would start; null beside `why_never`, for a host requirement alone, and
    while the read models are being built.
    """

    where: str
    systems: list[Match]
    why_never: str | None
    estimate: TimeLeft | None


class Matches(Answer):
    """`systems`: those that are viable for at least one of the recipes."""

    systems: list[Match]
    recipes: list[RecipeMatches]
    warnings: list[FaultShape]
