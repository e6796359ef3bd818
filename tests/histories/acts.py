"""What people and lab controllers do, through the use cases: each act chooses among what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from hypothesis import strategies as st

from api.use_cases.cancel import cancel_job, cancel_recipe_set
from api.use_cases.change_priority import change_priority
from api.use_cases.change_system import SystemChange, change_system
from api.use_cases.commit import commit_gathered
from api.use_cases.end_recipe import release_recipe, return_recipe
from api.use_cases.put_document import enable_lab_controller, move_system, put_document, remove_tree
from api.use_cases.register_system import register_system
from api.use_cases.report_progress import Item, report_progress
from api.use_cases.reserve_system import Wanted, reserve_system, return_system
from api.use_cases.submit_job import submit_job
from domain.errors import Refused
from domain.recipe.state import Recipe
from domain.recipe_set.messages import Report, ReportAborted
from domain.upkeep.reservation import provisioning
from tests.histories import jobs, labs, reporting
from tests.inside.bench import Scene
from tests.inside.door import UseCase

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]
Act = Callable[[Scene, Draw], None]


def submit(scene: Scene, draw: Draw) -> None:
    """Most sets are for systems of one lab."""
    named: dict[str, list[str]] = {}
    for fqdn, system in scene.watched.look().systems.items():
        if system.condition != "Removed":
            named.setdefault(system.lab, []).append(fqdn)
    spec = draw(jobs.jobs([*named.values()] or [labs.NAMES]))
    scene.door.ask(lambda services, request: submit_job(services, request, spec))


# Lab controllers report


def report_next(scene: Scene, draw: Draw) -> None:
    recipe = _one(draw, [each for each in _recipes(scene) if reporting.expected(each)])
    if recipe is not None:
        _tell(scene, recipe, [draw(st.sampled_from(reporting.expected(recipe)))])


def run_to_the_end(scene: Scene, draw: Draw) -> None:
    """In one message; guests are told of by the way, or not at all."""
    recipe = _one(draw, [each for each in _recipes(scene) if reporting.to_the_end(each)])
    if recipe is not None:
        _tell(scene, recipe, reporting.to_the_end(recipe))


def report_abort(scene: Scene, draw: Draw) -> None:
    recipe = _one(draw, [each for each in _recipes(scene) if each.system])
    if recipe is not None:
        _tell(scene, recipe, [ReportAborted("no power")])


def report_out_of_turn(scene: Scene, draw: Draw) -> None:
    """Refused or known already, or else what was to be said anyway."""
    recipe = _one(draw, [*_recipes(scene, finished=True)])
    if recipe is not None:
        _tell(scene, recipe, [draw(st.sampled_from(reporting.whatever(recipe)))])


def _tell(scene: Scene, recipe: Recipe, reports: Sequence[Report]) -> None:
    items = [Item(recipe.recipe_id, report) for report in reports]
    answers = scene.door.ask(lambda services, request: report_progress(services, request, None, items))
    errors = [answer for answer in answers if isinstance(answer, Exception)]
    assert all(isinstance(error, Refused) for error in errors), errors


def release(scene: Scene, draw: Draw) -> None:
    recipe = _one(draw, [each for each in _recipes(scene) if each.system])
    if recipe is not None:
        number = recipe.recipe_id
        _ask(scene, lambda services, request: release_recipe(services, request, None, number, "gone"))


def give_back(scene: Scene, draw: Draw) -> None:
    recipe = _one(draw, [each for each in _recipes(scene) if each.state == "reserved"])
    if recipe is not None:
        number = recipe.recipe_id
        _ask(scene, lambda services, request: return_recipe(services, request, number))


# Submitters


def cancel_set(scene: Scene, draw: Draw) -> None:
    number = _one(draw, _unfinished_sets(scene))
    if number is not None:
        _ask(scene, lambda services, request: cancel_recipe_set(services, request, number, "not needed"))


def cancel_whole_job(scene: Scene, draw: Draw) -> None:
    recipe = _one(draw, [*_recipes(scene)])
    if recipe is not None:
        number = recipe.job_id
        _ask(scene, lambda services, request: cancel_job(services, request, number, "not needed"))


def reprioritise(scene: Scene, draw: Draw) -> None:
    number = _one(draw, _unfinished_sets(scene))
    if number is not None:
        priority = draw(jobs.priorities)
        _ask(scene, lambda services, request: change_priority(services, request, number, priority))


# Operators and systems


def change_condition(scene: Scene, draw: Draw) -> None:
    condition = draw(st.sampled_from(("Automated", "Automated", *labs.CONDITIONS)))
    _change(scene, draw, SystemChange(condition=condition, reason="as it happens"))


def drain_or_undrain(scene: Scene, draw: Draw) -> None:
    _change(scene, draw, SystemChange(draining=draw(st.booleans()), reason="a fan"))


def describe(scene: Scene, draw: Draw) -> None:
    _change(scene, draw, SystemChange(properties={"memory_mb": draw(labs.memory_mb)}))


def move(scene: Scene, draw: Draw) -> None:
    _change(scene, draw, SystemChange(lab_controller=draw(st.sampled_from(labs.LABS))))


def change_much(scene: Scene, draw: Draw) -> None:
    """All at once."""
    change = SystemChange(
        lab_controller=draw(st.sampled_from((None, *labs.LABS))),
        condition=draw(st.sampled_from(("Automated", "Manual", "Broken"))),
        draining=draw(st.sampled_from((None, True, False))),
        properties={"memory_mb": draw(labs.memory_mb)},
        reason="moved house",
    )
    _change(scene, draw, change)


def _change(scene: Scene, draw: Draw, change: SystemChange) -> None:
    _change_one(scene, draw(st.sampled_from(_systems(scene))), change)


def _change_one(scene: Scene, fqdn: str, change: SystemChange) -> None:
    _ask(scene, lambda services, request: change_system(services, request, fqdn, change, lambda _: None))


def join(scene: Scene, draw: Draw) -> None:
    number = len(_systems(scene))
    if number < len(labs.NAMES):
        document = labs.document(number, draw(labs.systems))
        _ask(scene, lambda services, request: register_system(services, request, document))


def change_pool(scene: Scene, draw: Draw) -> None:
    fqdn, pool = draw(st.sampled_from(_systems(scene))), draw(st.sampled_from(labs.POOLS))
    member = pool not in scene.watched.world.pools.get(fqdn, ())
    _ask(scene, partial(move_system, pool=pool, system=fqdn, member=member))


# People and systems of their own


def reserve(scene: Scene, draw: Draw) -> None:
    fqdn = _one(draw, _of_condition(scene, "Manual"))
    if fqdn is None:
        _change(scene, draw, SystemChange(condition="Manual", reason="for people"))
    else:
        tree_id = draw(st.sampled_from((None, 1)))
        wanted = Wanted(draw(st.sampled_from(labs.USERS)), None, tree_id)
        _ask(scene, lambda services, request: reserve_system(services, request, fqdn, wanted))


def provision_for_a_person(scene: Scene, draw: Draw) -> None:
    fqdn = _one(draw, _reserved(scene))
    if fqdn is not None:
        state = draw(st.sampled_from(("running", "completed", "completed", "failed")))
        decide = partial(_provisioning, fqdn=fqdn, state=state)
        _ask(scene, lambda services, request: commit_gathered(services, request, [f"system/{fqdn}"], decide))


def _provisioning(gathered: Any, fqdn: str, state: str) -> Any:
    return provisioning(gathered.system(fqdn), state, "no disk")


def return_reserved(scene: Scene, draw: Draw) -> None:
    fqdn = _one(draw, _reserved(scene))
    if fqdn is not None:
        _ask(scene, lambda services, request: return_system(services, request, fqdn))


# What the scheduler may be deciding on at this moment


def cancel_newest(scene: Scene, draw: Draw) -> None:
    if numbers := _unfinished_sets(scene):
        _ask(scene, lambda services, request: cancel_recipe_set(services, request, numbers[-1], "a mistake"))


def reprioritise_newest(scene: Scene, draw: Draw) -> None:
    if numbers := _unfinished_sets(scene):
        priority = draw(jobs.priorities)
        _ask(scene, lambda services, request: change_priority(services, request, numbers[-1], priority))


def take_free_system_away(scene: Scene, draw: Draw) -> None:
    fqdn = _one(draw, _free(scene))
    if fqdn is not None:
        changes = (
            SystemChange(condition="Broken", reason="just now"),
            SystemChange(condition="Manual", reason="just now"),
            SystemChange(draining=True, reason="just now"),
            SystemChange(lab_controller=draw(st.sampled_from(labs.LABS))),
        )
        _change_one(scene, fqdn, draw(st.sampled_from(changes)))


def hit_a_holder(scene: Scene, draw: Draw) -> None:
    """A set has some of its systems, and may not get the others now."""
    world = scene.watched.look()
    waiting = {recipe.lab for recipe in world.recipes.values() if recipe.state == "assigned"}
    fqdn = _one(draw, [name for name, system in world.systems.items() if system.lab in waiting])
    if fqdn is not None:
        condition = draw(st.sampled_from(("Broken", "Manual")))
        _change_one(scene, fqdn, SystemChange(condition=condition, reason="just now"))


# The lab


def enable_or_disable(scene: Scene, draw: Draw) -> None:
    name, enabled = draw(st.sampled_from(labs.LABS)), draw(st.sampled_from((True, True, False)))
    _ask(scene, lambda services, request: enable_lab_controller(services, request, name, enabled))


def put_tree(scene: Scene, draw: Draw) -> None:
    tree_id, places = draw(st.sampled_from(list(labs.TREES))), ["lab-1", *draw(labs.some_labs)]
    document = labs.tree(tree_id, places)
    _ask(
        scene,
        lambda services, request: put_document(services, request, "distro-tree", f"{tree_id}", document),
    )


def take_tree_away(scene: Scene, draw: Draw) -> None:
    """Not the one that most recipes want."""
    name = str(draw(st.sampled_from((2, 3))))
    _ask(scene, lambda services, request: remove_tree(services, request, name))


REPORTS: tuple[Act, ...] = (
    *(report_next, report_next, report_next, run_to_the_end, run_to_the_end),
    *(report_abort, report_out_of_turn, release, give_back),
)
SUBMITTERS: tuple[Act, ...] = (submit, submit, reprioritise, reprioritise, cancel_set, cancel_whole_job)
OPERATORS: tuple[Act, ...] = (
    *(change_condition, change_condition, change_condition, drain_or_undrain, drain_or_undrain),
    *(describe, move, change_much, join, change_pool, hit_a_holder),
)
PEOPLE: tuple[Act, ...] = (reserve, reserve, provision_for_a_person, return_reserved)
LAB: tuple[Act, ...] = (enable_or_disable, enable_or_disable, put_tree, take_tree_away)
EVERYBODY = (*SUBMITTERS, *REPORTS, *OPERATORS, *PEOPLE, *LAB)
RACING: tuple[Act, ...] = (
    *(cancel_newest, reprioritise_newest, take_free_system_away, hit_a_holder),
    *(submit, cancel_set, change_condition, run_to_the_end, reserve, enable_or_disable),
)
# What gives the scheduler something to do.
STIRRING: tuple[Act, ...] = (submit, submit, submit, run_to_the_end, run_to_the_end, change_condition)


def _ask(scene: Scene, use_case: UseCase[Any]) -> None:
    """What conflicts with what is true now is refused, and that is all that may go wrong."""
    try:
        scene.door.ask(use_case)
    except Refused:
        return


def _one(draw: Draw, among: Sequence[T]) -> T | None:
    return draw(st.sampled_from(among)) if among else None


def _recipes(scene: Scene, finished: bool = False) -> Iterable[Recipe]:
    """Oldest first, guests too."""
    world = scene.watched.look()
    numbers = sorted({*world.recipes, *(world.finished if finished else ())})
    states = scene.door.services.aggregates.load(f"recipe/{number}" for number in numbers)
    return [state for state in states.values() if isinstance(state, Recipe)]


def _unfinished_sets(scene: Scene) -> list[int]:
    return sorted({recipe.set_id for recipe in scene.watched.look().recipes.values()})


def _systems(scene: Scene) -> list[str]:
    return list(scene.watched.look().systems)


def _of_condition(scene: Scene, condition: str) -> list[str]:
    return [name for name, system in scene.watched.look().systems.items() if system.condition == condition]


def _free(scene: Scene) -> list[str]:
    systems = scene.watched.look().systems
    return [name for name, system in systems.items() if system.usage in ("idle", "pending")]


def _reserved(scene: Scene) -> list[str]:
    return [name for name, system in scene.watched.look().systems.items() if system.reserved]
