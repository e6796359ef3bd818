"""Changes of systems by operators, some concurrent with a grant."""

from __future__ import annotations

from functools import partial

from hypothesis import strategies as st

from api.use_cases.change_system import NewSystemValues, change_system, register_system
from api.use_cases.move_system import move_system
from tests.in_process.environment import Instance
from tests.random_histories import labs
from tests.random_histories.acts.choosing import Draw, ask, free, one, systems


def change_condition(scene: Instance, draw: Draw) -> None:
    condition = draw(st.sampled_from(("Automated", "Automated", *labs.CONDITIONS)))
    change_any(scene, draw, NewSystemValues(condition=condition, reason="as it happens"))


def drain_or_undrain(scene: Instance, draw: Draw) -> None:
    change_any(scene, draw, NewSystemValues(draining=draw(st.booleans()), reason="a fan"))


def describe(scene: Instance, draw: Draw) -> None:
    change_any(scene, draw, NewSystemValues(properties={"memory_mb": draw(labs.memory_mb)}))


def move(scene: Instance, draw: Draw) -> None:
    change_any(scene, draw, NewSystemValues(lab_controller=draw(st.sampled_from(labs.LABS))))


def change_much(scene: Instance, draw: Draw) -> None:
    """Change several properties in one request."""
    change = NewSystemValues(
        lab_controller=draw(st.sampled_from((None, *labs.LABS))),
        condition=draw(st.sampled_from(("Automated", "Manual", "Broken"))),
        draining=draw(st.sampled_from((None, True, False))),
        properties={"memory_mb": draw(labs.memory_mb)},
        reason="moved house",
    )
    change_any(scene, draw, change)


def change_any(scene: Instance, draw: Draw, change: NewSystemValues) -> None:
    change_one(scene, draw(st.sampled_from(systems(scene))), change)


def change_one(scene: Instance, fqdn: str, change: NewSystemValues) -> None:
    ask(scene, lambda services, request: change_system(services, request, fqdn, change, lambda _: None))


def join(scene: Instance, draw: Draw) -> None:
    number = len(systems(scene))
    if number < len(labs.NAMES):
        document = labs.document(number, draw(labs.systems))
        ask(scene, lambda services, request: register_system(services, request, document))


def change_pool(scene: Instance, draw: Draw) -> None:
    fqdn, pool = draw(st.sampled_from(systems(scene))), draw(st.sampled_from(labs.POOLS))
    member = pool not in scene.watched.world.pools.get(fqdn, ())
    ask(scene, partial(move_system, pool=pool, fqdn=fqdn, member=member))


def take_free_system_away(scene: Instance, draw: Draw) -> None:
    fqdn = one(draw, free(scene))
    if fqdn is not None:
        changes = (
            NewSystemValues(condition="Broken", reason="just now"),
            NewSystemValues(condition="Manual", reason="just now"),
            NewSystemValues(draining=True, reason="just now"),
            NewSystemValues(lab_controller=draw(st.sampled_from(labs.LABS))),
        )
        change_one(scene, fqdn, draw(st.sampled_from(changes)))


def hit_a_holder(scene: Instance, draw: Draw) -> None:
    """Take away a system that a holder waits for."""
    world = scene.watched.look()
    waiting = {recipe.lab for recipe in world.recipes.values() if recipe.state == "assigned"}
    fqdn = one(draw, [name for name, system in world.systems.items() if system.lab in waiting])
    if fqdn is not None:
        condition = draw(st.sampled_from(("Broken", "Manual")))
        change_one(scene, fqdn, NewSystemValues(condition=condition, reason="just now"))
