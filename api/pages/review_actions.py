"""The actions that review the results of recipe sets that have ended, and waive failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from api.pages.actions import REASON, Action, Facts
from api.pages.form_fields import Fields, FormField
from api.rest.contract.query_values import MAX_NUMBER, whole_number
from api.rest.ports import PageParts
from api.use_cases.ports import RequestContext
from api.use_cases.review import review_set, waive_set, waive_task
from api.use_cases.rights import own_or_administered_recipe, own_or_administered_set
from domain.errors import Fault, FaultyInput
from domain.recipe.lifecycle import FINISHED
from domain.recipe_set.review import REVIEWS, WaiverChange
from domain.roll_up import BAD_RESULTS
from store.requests import Committed


async def _review(parts: PageParts, request: RequestContext, set_id: int, fields: Fields) -> Committed | None:
    return await review_set(parts, request, set_id, fields["review"], fields["reason"])


async def _waive_set(
    parts: PageParts, request: RequestContext, set_id: int, fields: Fields
) -> Committed | None:
    return await waive_set(parts, request, set_id, WaiverChange(True, fields["reason"]))


async def _end_waiver_of_set(
    parts: PageParts, request: RequestContext, set_id: int, fields: Fields
) -> Committed | None:
    return await waive_set(parts, request, set_id, WaiverChange(False, fields["reason"]))


async def _waive_task(
    parts: PageParts, request: RequestContext, recipe_id: int, fields: Fields
) -> Committed | None:
    change = WaiverChange(True, fields["reason"])
    return await waive_task(parts, request, recipe_id, _task_of(fields), change)


async def _end_waiver_of_task(
    parts: PageParts, request: RequestContext, recipe_id: int, fields: Fields
) -> Committed | None:
    change = WaiverChange(False, fields["reason"])
    return await waive_task(parts, request, recipe_id, _task_of(fields), change)


def _task_of(fields: Fields) -> int:
    """Return the id of the chosen task. Raises FaultyInput for another text than a choice."""
    number = whole_number(fields["task"].partition(" ")[0])
    if number is None or not 1 <= number <= MAX_NUMBER:
        raise FaultyInput([Fault("task", "must be the number of a task")])
    return number


def _ended(facts: Facts) -> bool:
    return facts["state"] in FINISHED


def _to_waive(recipe: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the failed tasks that have no waiver of their own."""
    for task in recipe["tasks"]:
        if task["result"] in BAD_RESULTS and (task["waiver"] is None or task["waiver"]["of"] != "task"):
            yield task


def _waived(recipe: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the tasks that have a waiver of their own."""
    return (task for task in recipe["tasks"] if task["waiver"] and task["waiver"]["of"] == "task")


def _choices(tasks: Iterator[Any]) -> tuple[str, ...]:
    return tuple(f"{task['task_id']} {task['name']}" for task in tasks)


_REVIEW: Final = Action(
    name="review",
    label="Review the results",
    effect="The review says what you think of the whole set; none revokes it. No result changes.",
    is_possible=_ended,
    require_may=own_or_administered_set,
    perform=_review,
    fields=(FormField("review", "Review", choices=REVIEWS, is_required=True), REASON),
)
_WAIVE_SET: Final = Action(
    name="waive",
    label="Waive the failures",
    effect="All failures of the set are accepted, and counted apart. No result changes.",
    is_possible=lambda each: _ended(each) and each["result"] in BAD_RESULTS and each["waiver"] is None,
    require_may=own_or_administered_set,
    perform=_waive_set,
    fields=(REASON,),
)
_END_WAIVER_OF_SET: Final = Action(
    name="end-waiver",
    label="Revoke the waiver",
    effect="The failures of the set count again, except those of tasks with waivers of their own.",
    is_possible=lambda each: _ended(each) and each["waiver"] is not None,
    require_may=own_or_administered_set,
    perform=_end_waiver_of_set,
    fields=(REASON,),
)
_WAIVE_TASK: Final = Action(
    name="waive",
    label="Waive a failed task",
    effect="Its failure is accepted, and counted apart. No result changes.",
    is_possible=lambda recipe: _ended(recipe) and bool(_choices(_to_waive(recipe))),
    require_may=own_or_administered_recipe,
    perform=_waive_task,
    fields=(
        FormField("task", "Task", is_required=True, choices_of=lambda recipe: _choices(_to_waive(recipe))),
        REASON,
    ),
)
_END_WAIVER_OF_TASK: Final = Action(
    name="end-waiver",
    label="Revoke the waiver of a task",
    effect="Its failure counts again, unless its recipe set is waived.",
    is_possible=lambda recipe: bool(_choices(_waived(recipe))),
    require_may=own_or_administered_recipe,
    perform=_end_waiver_of_task,
    fields=(
        FormField("task", "Task", is_required=True, choices_of=lambda recipe: _choices(_waived(recipe))),
        REASON,
    ),
)

REVIEW_ACTIONS: Final = (_REVIEW, _WAIVE_SET, _END_WAIVER_OF_SET)
TASK_WAIVER_ACTIONS: Final = (_WAIVE_TASK, _END_WAIVER_OF_TASK)
