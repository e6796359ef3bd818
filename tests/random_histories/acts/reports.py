"""Reports of lab controllers: in order, late, repeated, or contradictory."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from api.use_cases.change_job import release_recipe, return_recipe
from api.use_cases.report_drafts import RecipeItem
from api.use_cases.report_progress import report_progress
from domain.errors import Refused
from domain.recipe.state import Recipe
from domain.recipe_set.messages import Report, ReportAborted
from tests.in_process.environment import Instance
from tests.random_histories import reporting
from tests.random_histories.acts.choosing import Draw, ask, one, recipes


def report_next(scene: Instance, draw: Draw) -> None:
    recipe = one(draw, [each for each in recipes(scene) if reporting.expected(each)])
    if recipe is not None:
        _tell(scene, recipe, [draw(st.sampled_from(reporting.expected(recipe)))])


def run_to_the_end(scene: Instance, draw: Draw) -> None:
    """Report all progress in one message; guests are included or not."""
    recipe = one(draw, [each for each in recipes(scene) if reporting.to_the_end(each)])
    if recipe is not None:
        _tell(scene, recipe, reporting.to_the_end(recipe))


def report_abort(scene: Instance, draw: Draw) -> None:
    recipe = one(draw, [each for each in recipes(scene) if each.system])
    if recipe is not None:
        _tell(scene, recipe, [ReportAborted("no power")])


def report_out_of_turn(scene: Instance, draw: Draw) -> None:
    """Send a report that is refused, repeated, or due by chance."""
    recipe = one(draw, [*recipes(scene, finished=True)])
    if recipe is not None:
        _tell(scene, recipe, [draw(st.sampled_from(reporting.whatever(recipe)))])


def _tell(scene: Instance, recipe: Recipe, reports: Sequence[Report]) -> None:
    items = [RecipeItem(recipe.recipe_id, report) for report in reports]
    answers = scene.api.ask(lambda services, request: report_progress(services, request, None, items))
    errors = [answer for answer in answers if isinstance(answer, Exception)]
    assert all(isinstance(error, Refused) for error in errors), errors


def release(scene: Instance, draw: Draw) -> None:
    recipe = one(draw, [each for each in recipes(scene) if each.system])
    if recipe is not None:
        number = recipe.recipe_id
        ask(scene, lambda services, request: release_recipe(services, request, None, number, "gone"))


def give_back(scene: Instance, draw: Draw) -> None:
    recipe = one(draw, [each for each in recipes(scene) if each.state == "reserved"])
    if recipe is not None:
        number = recipe.recipe_id
        ask(scene, lambda services, request: return_recipe(services, request, number))
