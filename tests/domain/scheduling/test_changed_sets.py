"""Waiting sets that no lab can serve any more after a person changed a recipe: they end as new ones do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from domain.recipe.events import RecipeAborted
from domain.scheduling.decisions.decide import WITHOUT_CLAIMS, decide
from domain.scheduling.supply.reasons import (
    FIT_IN_DIFFERENT_LABS,
    NO_LAB_FOR_ALL,
    NO_SYSTEM_MATCHES,
    SIBLING_IMPOSSIBLE,
)
from tests.domain.scheduling.contents import check_indexes
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import occupy
from tests.domain.scheduling.world import World


@pytest.fixture
def holder(world: World) -> list[int]:
    """Return a set that has a and waits for b, which is in use. System z is idle in a lab of its own."""
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_idle("a", "b")
    world.add_system("z", lab="lab-2")
    occupy(world, "b")
    recipe_ids = list(world.submit_set([named("a"), named("b")]))
    world.settle()
    assert world.states(*recipe_ids) == ["scheduled", "assigned"]
    return recipe_ids


def abort_reasons(world: World, recipe_ids: Sequence[int]) -> list[str]:
    """Return the reason of the abort of each recipe, without the details."""
    events = {each.subject: each.event for each in world.log if isinstance(each.event, RecipeAborted)}
    return [events[f"recipe/{recipe_id}"].reason.partition(":")[0] for recipe_id in recipe_ids]


# The requirement to which the second recipe is changed, and the reasons of both.
ROWS: list[tuple[str, list[str]]] = [
    # Each recipe alone has a system, but it is the same one.
    (named("a"), [NO_LAB_FOR_ALL] * 2),
    (named("z"), [FIT_IN_DIFFERENT_LABS] * 2),
    (named("no such system"), [SIBLING_IMPOSSIBLE, NO_SYSTEM_MATCHES]),
]


@pytest.mark.parametrize(("requirement", "reasons"), ROWS)
@pytest.mark.parametrize("restarts", [False, True])
def test_changed__no_lab_can_serve_the_set__it_is_aborted_as_a_new_one_would_be(
    world: World, holder: Sequence[int], requirement: str, reasons: list[str], restarts: bool
) -> None:
    position = world.position
    world.change_recipe(holder[1], host_requires=requirement)
    changed_at = next(
        each.position
        for each in world.log
        if each.position > position and each.subject == f"recipe/{holder[1]}"
    )
    if restarts:
        world.restart()
    decision, *_ = world.settle()
    assert decision.trigger.cause == f"event/{changed_at}"
    assert world.states(*holder) == ["aborted", "aborted"]
    assert abort_reasons(world, holder) == reasons
    assert world.systems["a"].usage == "idle"
    check_indexes(world.partition)
    new = world.submit_set([named("a"), requirement])
    world.settle()
    assert abort_reasons(world, new) == reasons


def test_changed__new_set_before_its_decision__the_decision_aborts_it(world: World) -> None:
    world.add_idle("a", "b")
    recipe_ids = world.submit_set([named("a"), named("b")])
    world.change_recipe(recipe_ids[1], host_requires=named("a"))
    (decision,) = world.settle()
    assert decision.trigger.kind == "new-job"
    assert abort_reasons(world, recipe_ids) == [NO_LAB_FOR_ALL] * 2


def _broken(world: World) -> None:
    world.set_condition("b", "Broken")


def _removed_tree(world: World) -> None:
    world.remove_tree(1)


@pytest.mark.parametrize("prepare", [_broken, _removed_tree])
def test_changed__a_lab_could_serve_the_set_later__it_waits(
    world: World, holder: Sequence[int], prepare: Callable[[World], None]
) -> None:
    prepare(world)
    world.change_recipe(holder[0], host_requires=named("a", "b"))
    world.settle()
    assert set(world.states(*holder)) <= {"queued", "assigned", "scheduled"}


def test_changed__decision_of_an_earlier_policy__the_set_waits(world: World, holder: Sequence[int]) -> None:
    world.change_recipe(holder[1], host_requires=named("a"))
    decisions = decide(world.partition, 100, policy_version=WITHOUT_CLAIMS)
    aborted = [event for each in decisions for _, event in each.events if isinstance(event, RecipeAborted)]
    assert aborted == []
    world.partition.rollback()
