"""The recipe that gets a pending system, and the order in which triggers are answered."""

from __future__ import annotations

from domain.system.events import SystemIdle
from tests.domain.scheduling.host_requirements import ANYTHING, BIG, IN_POOL, forces, named
from tests.domain.scheduling.labs import finish, occupy, wanting
from tests.domain.scheduling.world import World


def test_pending_system__empty_queue__idle(world: World) -> None:
    world.add_system("a")
    (decision,) = world.settle()
    assert decision.events == (("system/a", SystemIdle()),)


def test_pending_system__queue_of_all_priorities__serves_by_priority_then_submission(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    world.settle()
    for priority in ("Low", "Normal", "Urgent", "Medium", "Urgent", "High"):
        world.submit(ANYTHING.text, priority=priority)
    world.settle()
    served = []
    while placed := world.placed():
        served.append(placed[0].recipe_id)
        world.complete(placed[0].recipe_id)
        world.settle()
    assert served == [1, 4, 6, 7, 3, 5, 2]


def test_pending_system__first_in_rank_wants_another_system__serves_the_next(world: World) -> None:
    world.add_idle("a")
    world.add_system("b", condition="Broken", memory_mb=16384)
    world.submit(ANYTHING.text)
    big, small = world.submit(BIG.text, priority="Urgent"), world.submit(ANYTHING.text, priority="Low")
    world.settle()
    world.abort(1)
    world.settle()
    assert (world.recipes[big].state, world.recipes[small].state) == ("queued", "waiting")


def test_pending_system__lab_disabled_meanwhile__idle_despite_waiting_recipes(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    world.settle()
    world.submit(ANYTHING.text, priority="Urgent")
    world.settle()
    world.enable("lab-1", False)
    world.complete(1)
    (decision,) = world.settle()
    assert decision.events == (("system/a", SystemIdle()),)


def test_pending_system__lab_disabled_meanwhile__not_even_for_forced_recipes(world: World) -> None:
    world.add_idle("a")
    runs = occupy(world, "a")
    forcing = world.submit(forces("a"))
    world.settle()
    world.enable("lab-1", False)
    finish(world, runs["a"])
    assert (world.systems["a"].usage, world.states(forcing)) == ("idle", ["queued"])


def test_triggers__system_pending_again_before_the_answer__one_answer(world: World) -> None:
    world.add_system("a")
    recipe_id = world.submit(ANYTHING.text)
    world.drain("a")
    world.undrain("a")
    answered = [decision.trigger.kind for decision in world.settle()]
    assert answered == ["pending-system", "new-job"]
    assert world.system_of(recipe_id) == "a"


def test_pending_system__registered_in_the_pool_a_queued_recipe_wants__serves_it(world: World) -> None:
    world.add_system("broken", condition="Broken", pools=["net"])
    wanting = world.submit(IN_POOL.text)
    world.settle()
    world.add_system("a", pools=["net"])
    world.settle()
    assert world.recipes[wanting].system == "a"


def test_triggers__system_freed_before_a_new_job__queue_is_served_first(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    queued = world.submit(ANYTHING.text, priority="Low")
    world.settle()
    world.complete(1)
    newcomer = world.submit(ANYTHING.text, priority="Urgent")
    world.settle()
    assert (world.recipes[queued].state, world.recipes[newcomer].state) == ("waiting", "queued")


def test_triggers__recipe_cancelled_before_the_answer__no_decision(world: World) -> None:
    world.add_idle("a")
    world.cancel(world.submit(ANYTHING.text))
    assert world.settle() == []


def test_pending_system__assigned_recipe_and_more_urgent_queued_one__assigned_goes_first(
    world: World,
) -> None:
    world.add_idle("a", "b")
    runs = occupy(world, "b")
    _, assigned = wanting(world, "a", "b", priority="Low")
    urgent = world.submit(named("b"), priority="Urgent")
    world.settle()
    finish(world, runs["b"])
    assert (world.system_of(assigned), world.states(urgent)) == ("b", ["queued"])


def test_pending_system__several_assigned_recipes__go_by_priority_then_submission(world: World) -> None:
    world.add_idle("a", "b", "c", "x", "y", "z")
    runs = occupy(world, "x", "y", "z")
    # Each set holds one system and wants any of the busy ones.
    low, early, late = (
        wanting(world, own, "xyz", priority=priority)[1]
        for own, priority in (("a", "Low"), ("b", "High"), ("c", "High"))
    )
    finish(world, *runs.values())
    assert [world.system_of(recipe_id) for recipe_id in (early, late, low)] == ["x", "y", "z"]


def test_pending_system__set_of_equal_rank__its_recipes_go_in_document_order(world: World) -> None:
    world.add_idle("a", "b")
    runs = occupy(world, "a", "b")
    first, second = wanting(world, "ab", "ab")
    finish(world, runs["b"])
    assert (world.system_of(first), world.states(second)) == ("b", ["assigned"])


def test_pending_system__assigned_recipe_of_another_lab__is_not_asked(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_system("x", lab="lab-2")
    world.add_idle("a", "b")
    runs = occupy(world, "b", "x")
    _, assigned = wanting(world, "a", "bx")
    queued = world.submit(named("x"), priority="Low")
    world.settle()
    finish(world, runs["x"])
    assert (world.states(assigned), world.system_of(queued)) == (["assigned"], "x")


def test_pending_system__queued_sibling_gets_it__the_others_are_assigned_to_its_lab(world: World) -> None:
    world.add_idle("a", "b")
    runs = occupy(world, "a", "b")
    first, second = wanting(world, "a", "b")
    assert world.states(first, second) == ["queued", "queued"]
    finish(world, runs["b"])
    assert world.states(first, second) == ["assigned", "scheduled"]
    assert world.recipes[first].lab_controller == "lab-1"


def test_pending_system__priority_of_a_waiting_set_changed__new_rank(world: World) -> None:
    world.add_idle("a")
    runs = occupy(world, "a")
    early, late = world.submit(ANYTHING.text), world.submit(ANYTHING.text)
    world.settle()
    world.change_priority(late, "High")
    finish(world, runs["a"])
    assert (world.states(early), world.system_of(late)) == (["queued"], "a")


def test_pending_system__drained_before_the_answer__not_answered(world: World) -> None:
    world.add_idle("a")
    runs = occupy(world, "a")
    waiting = world.submit(ANYTHING.text)
    world.settle()
    world.complete(runs["a"])
    world.drain("a")
    assert world.settle() == []
    assert (world.systems["a"].usage, world.states(waiting)) == ("idle", ["queued"])


def test_free_system__not_automated__serves_only_forced_recipes(world: World) -> None:
    world.add_idle("a")
    forcing_first = world.submit(forces("a"))
    world.settle()
    ordinary = world.submit(ANYTHING.text, priority="Urgent")
    forcing = world.submit(forces("a"), priority="Low")
    world.set_condition("a", "Manual")
    world.settle()
    finish(world, forcing_first)
    assert (world.states(ordinary), world.system_of(forcing)) == (["queued"], "a")
