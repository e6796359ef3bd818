"""Requirements with names that the lab does not have yet."""

from __future__ import annotations

from domain.requirements.host import HOST
from domain.scheduling.supply.reasons import NO_DISTRO_TREE
from tests.domain.scheduling.decision_reasons import reasons_to_abort
from tests.domain.scheduling.host_requirements import forces
from tests.domain.scheduling.world import World

IN_NEW_POOL = {"element": "pool", "op": "==", "value": "new"}
SECOND = {"element": "hostname", "op": "==", "value": "b"}


def test_recipe__its_pool_is_made_later__takes_a_system_of_the_pool(world: World) -> None:
    world.add_system("b", condition="Broken")
    world.settle()
    recipe = world.submit(HOST.examine({"or": [IN_NEW_POOL, SECOND]}).text)
    world.settle()
    assert world.states(recipe) == ["queued"]
    world.add_system("a", pools=["new"])
    world.settle()
    assert world.states(recipe) == ["waiting"]


def test_recipe__without_the_unknown_pool__takes_any_system(world: World) -> None:
    world.add_system("a")
    world.settle()
    recipe = world.submit(HOST.examine({**IN_NEW_POOL, "op": "!="}).text)
    world.settle()
    assert world.states(recipe) == ["waiting"]


def test_set__forces_an_unknown_system__is_aborted_with_its_name(world: World) -> None:
    world.add_system("a")
    world.settle()
    recipe = world.submit(forces("nowhere"))
    reason = reasons_to_abort(world)[f"recipe/{recipe}"]
    assert reason.endswith('there is no system "nowhere"')


def test_set__no_tree_of_an_unknown_lab_controller__is_aborted_with_its_name(world: World) -> None:
    world.add_system("a")
    world.settle()
    requires = '{"element":"labcontroller","op":"==","value":"lab-9"}'
    recipe = world.submit('{"and":[]}', None, distro_requires=requires)
    reason = reasons_to_abort(world)[f"recipe/{recipe}"]
    assert reason == f'{NO_DISTRO_TREE}: there is no lab controller "lab-9"'


def test_autopick__an_unknown_pool__prefers_nothing(world: World) -> None:
    world.add_system("a")
    world.settle()
    recipe = world.submit('{"and":[]}', autopick_pools=("new",))
    world.settle()
    assert world.states(recipe) == ["waiting"]
