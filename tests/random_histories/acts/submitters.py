"""Submission, cancellation and changes of priority, some concurrent with the scheduler."""

from __future__ import annotations

from hypothesis import strategies as st

from api.use_cases.change_job import cancel_job, cancel_recipe_set, change_priority
from api.use_cases.change_recipe import change_recipe, present_set
from api.use_cases.extend_job import close_job, extend_job
from api.use_cases.rights import own_job
from api.use_cases.submit_job import submit_job
from domain.job.state import folded
from domain.recipe_set.state import RecipeSet
from tests.in_process.environment import Instance
from tests.random_histories import jobs, labs
from tests.random_histories.acts.choosing import Draw, ask, one, recipes, unfinished_sets


def _systems_by_lab(scene: Instance) -> list[list[str]]:
    named: dict[str, list[str]] = {}
    for fqdn, system in scene.watched.look().systems.items():
        if system.condition != "Removed":
            named.setdefault(system.lab, []).append(fqdn)
    return [*named.values()] or [labs.NAMES]


def submit(scene: Instance, draw: Draw) -> None:
    """Submit a job; most sets are for systems of one lab."""
    spec = draw(jobs.jobs(_systems_by_lab(scene)))
    scene.api.ask(lambda services, request: submit_job(services, request, spec))


def extend(scene: Instance, draw: Draw) -> None:
    """Add sets to the newest open job, or close an open job."""
    opened = [number for number, is_open in scene.watched.look().open_jobs.items() if is_open]
    number = one(draw, opened[-2:])
    if number is None:
        return
    if draw(st.sampled_from((False, False, True))):
        ask(scene, lambda services, request: close_job(services, request, number))
    else:
        spec = draw(jobs.jobs(_systems_by_lab(scene)))
        ask(
            scene,
            lambda services, request: extend_job(services, request, own_job(services, request, number), spec),
        )


def change_newest(scene: Instance, draw: Draw) -> None:
    """Change a recipe of a new set, which may have begun."""
    number = one(draw, unfinished_sets(scene)[-3:])
    if number is None:
        return
    subject = f"recipe-set/{number}"
    recipe_set = scene.api.services.aggregates.load([subject])[subject]
    assert isinstance(recipe_set, RecipeSet)
    name = f"job/{recipe_set.job_id}"
    job = folded(recipe_set.job_id, scene.log.load({name: 0})[name])
    assert job is not None
    seen = present_set(scene.log, job, recipe_set).document
    spec = draw(jobs.changed_sets(seen, draw(st.sampled_from(_systems_by_lab(scene)))))
    recipe_id = recipe_set.recipe_ids[0]
    ask(scene, lambda services, request: change_recipe(services, request, recipe_id, job, seen, spec))


def cancel_set(scene: Instance, draw: Draw) -> None:
    number = one(draw, unfinished_sets(scene))
    if number is not None:
        ask(scene, lambda services, request: cancel_recipe_set(services, request, number, "not needed"))


def cancel_whole_job(scene: Instance, draw: Draw) -> None:
    recipe = one(draw, [*recipes(scene)])
    if recipe is not None:
        number = recipe.job_id
        ask(scene, lambda services, request: cancel_job(services, request, number, "not needed"))


def reprioritise(scene: Instance, draw: Draw) -> None:
    number = one(draw, unfinished_sets(scene))
    if number is not None:
        priority = draw(jobs.priorities)
        ask(scene, lambda services, request: change_priority(services, request, number, priority))


def cancel_newest(scene: Instance, draw: Draw) -> None:
    if numbers := unfinished_sets(scene):
        ask(scene, lambda services, request: cancel_recipe_set(services, request, numbers[-1], "a mistake"))


def reprioritise_newest(scene: Instance, draw: Draw) -> None:
    if numbers := unfinished_sets(scene):
        priority = draw(jobs.priorities)
        ask(scene, lambda services, request: change_priority(services, request, numbers[-1], priority))
