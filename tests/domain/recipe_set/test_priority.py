"""Changes of the priority of a waiting set."""

from __future__ import annotations

import pytest

from domain.errors import Refused
from domain.priority import Priority
from domain.recipe.lifecycle import FINISHED, STARTED
from domain.recipe_set.events import RecipeSetPriorityChanged, RecipeSetSubmitted
from domain.recipe_set.priority import change_priority
from domain.recipe_set.state import RecipeSet, evolve
from tests.domain.recipe.samples import moment
from tests.domain.recipe_set.samples import set_of

SUBMITTED = RecipeSetSubmitted(job_id=3, priority="Normal", recipe_ids=[4, 5])


@pytest.fixture
def recipe_set() -> RecipeSet:
    return evolve(None, 7, SUBMITTED, moment(position=40))


def test_submitted__first_event__gives_the_place_in_the_order_of_submission(recipe_set: RecipeSet) -> None:
    assert (recipe_set.subject, recipe_set.job_id, recipe_set.submission) == ("recipe-set/7", 3, 40)
    assert (recipe_set.priority, recipe_set.recipe_ids) == (Priority.Normal, (4, 5))


def test_priority_changed__any_time__keeps_the_place_in_the_order_of_submission(
    recipe_set: RecipeSet,
) -> None:
    changed = evolve(recipe_set, 7, RecipeSetPriorityChanged(priority="Urgent"), moment(2, 90))
    assert (changed.priority, changed.submission, changed.version) == (Priority.Urgent, 40, 2)


@pytest.mark.parametrize("state", ["new", "queued", "scheduled"])
def test_change_priority__set_that_has_not_started__is_changed(recipe_set: RecipeSet, state: str) -> None:
    decided = change_priority(recipe_set, set_of(state), Priority.Urgent)
    assert decided == [("recipe-set/7", RecipeSetPriorityChanged(priority="Urgent"))]


@pytest.mark.parametrize("state", STARTED)
def test_change_priority__set_has_started__is_refused(recipe_set: RecipeSet, state: str) -> None:
    with pytest.raises(Refused, match="recipe set 7 has already started"):
        change_priority(recipe_set, set_of(state), Priority.Urgent)


@pytest.mark.parametrize("state", sorted(FINISHED))
def test_change_priority__set_has_finished__refused_with_state(recipe_set: RecipeSet, state: str) -> None:
    with pytest.raises(Refused, match=f"recipe set 7 is already {state}$"):
        change_priority(recipe_set, set_of(state), Priority.Urgent)


def test_change_priority__same_as_before__changes_nothing(recipe_set: RecipeSet) -> None:
    assert change_priority(recipe_set, set_of("running"), Priority.Normal) == []
