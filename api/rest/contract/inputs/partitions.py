"""Inputs of the configuration and job filters of a partition. They only describe: the domain validates."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from api.rest.contract.inputs.queues import PlacementRule, RootQueue
from api.rest.contract.values import REFUSE_TEXT_AND_BOOLEANS, Count, Flag, Id, Input, OneOf
from domain.admission.configuration import ALWAYS, MAX_NUMBER, WITHIN_PRIORITY
from domain.admission.job_filters import ACTIONS, MAX_REASON_LENGTH
from domain.admission.predicates import FIELDS, MAX_DEPTH, MAX_PREDICATE_BYTES, OPERATORS

_Whole = Annotated[int, Field(ge=0, le=MAX_NUMBER), REFUSE_TEXT_AND_BOOLEANS]
_Positive = Annotated[int, Field(ge=1, le=MAX_NUMBER), REFUSE_TEXT_AND_BOOLEANS]
# At most three decimals, which a JSON schema cannot describe exactly.
_Decimal = Annotated[float, Field(ge=0, le=MAX_NUMBER), REFUSE_TEXT_AND_BOOLEANS]


class OrderSettings(Input):
    """`assigned_first`: the place of assigned recipes, first of equal priorities or before all others.

    `most_overtaken`: the number of overtakings after which a set stands before the assigned recipes of later
    sets; null without a bound.
    """

    assigned_first: Annotated[str, OneOf((WITHIN_PRIORITY, ALWAYS))] = WITHIN_PRIORITY
    max_overtaken: Annotated[_Whole | None, Field(alias="most_overtaken")] = 8


class CellValues(Input):
    """The values of the cells of a weight, which must ascend."""

    none: _Decimal = 0
    degrade: _Decimal = 0.3
    heavy_degrade: _Decimal = 0.5
    maybe: _Decimal = 1.5
    sure: _Decimal = 3


class Weights(Input):
    """The weight of a set: `base` and the worst cells, multiplied by 1 - ticks / `coefficient`, at least 0.

    `base`, `values` and `tick_seconds` have at most three decimals. `enabled` false: sets of equal priorities
    are in the order of their submission.
    """

    enabled: Flag = True
    base: _Decimal = 1
    values: CellValues = Field(default_factory=CellValues)
    tick_seconds: Annotated[float, Field(ge=1, le=MAX_NUMBER), REFUSE_TEXT_AND_BOOLEANS] = 30
    coefficient: _Positive = 30


class LockSettings(Input):
    """`most_overtaken`: the number of overtakings after which a set that waits for locks is owed them."""

    max_overtaken: Annotated[_Whole, Field(alias="most_overtaken")] = 8


class LimitSettings(Input):
    """`placed_recipes`: the maximum number of placed host recipes, null without one."""

    placed_recipes: _Whole | None = None


class ClaimSettings(Input):
    """`after_ticks`: the age from which a recipe may claim a busy system, null for never; 0: at once.

    `for_ticks`: the time after which such a claim is over. The ticks are `tick_seconds` of `weights`. Recipes
    that force a system claim it at once, and their claims do not run out.
    """

    after_ticks: _Whole | None = None
    for_ticks: _Positive = 120


class PreemptionSettings(Input):
    """`enabled`: a set of a queue below its guarantee may take the systems of sets of other queues.

    It has to wait `after_seconds` first, and `again_after_seconds` after it did. The sets of a job give way
    `most_per_job` times at most.
    """

    enabled: Flag = False
    after_seconds: _Whole = 30
    again_after_seconds: _Whole = 15
    max_per_job: Annotated[_Whole, Field(alias="most_per_job")] = 3


class OperationRow(Input):
    """The locks that the tasks of an operation declare; a name `{PARAMETER}` is a parameter of the task."""

    operation: str
    tasks: list[str] = Field(default_factory=list, description="names of tasks that the operation is for")
    locks: dict[str, Any] = Field(
        default_factory=dict, description="locks by level, in the form of the locks of a recipe"
    )
    whole_lab: Flag = False


class Configuration(Input):
    """A whole configuration: what it leaves out has the defaults."""

    order: OrderSettings = Field(default_factory=OrderSettings)
    weights: Weights = Field(default_factory=Weights)
    locks: LockSettings = Field(default_factory=LockSettings)
    limits: LimitSettings = Field(default_factory=LimitSettings)
    claims: ClaimSettings = Field(default_factory=ClaimSettings)
    preemption: PreemptionSettings = Field(default_factory=PreemptionSettings)
    operations: list[OperationRow] = Field(
        default_factory=list, description="rows that are added to the operation table, or replace its rows"
    )
    lab_controllers: list[str] = Field(
        default_factory=list, description="labs that are in this partition and in no other"
    )
    queues: RootQueue = Field(default_factory=RootQueue)
    placement: list[PlacementRule] = Field(
        default_factory=list,
        description="rules for the queue of a job, in order; without any, the queue that the job names",
    )


PREDICATE = (
    'a comparison {"field", "op", "value"}, or {"and": [...]}, {"or": [...]}, {"not": ...}, at most'
    f" {MAX_DEPTH} levels deep and {MAX_PREDICATE_BYTES} bytes large; null matches all sets. Fields:"
    f" {', '.join(FIELDS)}. Operators: {' '.join(OPERATORS)}. A job_id is a number or watermark."
)


class JobFilter(Input):
    """A rule of admission. `limit` is required for RATE_LIMIT, and only for it.

    Rules are taken by `priority` (0 first), watermark and name; the first one that matches, and is not
    CONTINUE, applies.
    """

    action: Annotated[str, OneOf(ACTIONS)]
    priority: Count = 0
    predicate: dict[str, Any] | None = Field(None, description=PREDICATE)
    limit: Id | None = None
    reason: Annotated[str, Field(max_length=MAX_REASON_LENGTH)] = ""
