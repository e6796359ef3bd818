"""Submission, cancellation and changes of priority, some concurrent with the scheduler."""

from __future__ import annotations

from api.use_cases.change_job import cancel_job, cancel_recipe_set, change_priority
from api.use_cases.submit_job import submit_job
from tests.in_process.environment import Instance
from tests.random_histories import jobs, labs
from tests.random_histories.acts.choosing import Draw, ask, one, recipes, unfinished_sets


def submit(scene: Instance, draw: Draw) -> None:
    """Submit a job; most sets are for systems of one lab."""
    named: dict[str, list[str]] = {}
    for fqdn, system in scene.watched.look().systems.items():
        if system.condition != "Removed":
            named.setdefault(system.lab, []).append(fqdn)
    spec = draw(jobs.jobs([*named.values()] or [labs.NAMES]))
    scene.api.ask(lambda services, request: submit_job(services, request, spec))


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
