"""Decisions about new jobs, and the choice among several systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from domain.recipe.events import RecipeQueued
from domain.requirements.host import HOST
from domain.scheduling.decisions.choice import choices
from domain.scheduling.decisions.decide import decide
from domain.scheduling.supply.reasons import NO_IDLE_SYSTEM
from tests.domain.scheduling.host_requirements import ANYTHING, BIG, HUGE, forces, named
from tests.domain.scheduling.labs import occupy
from tests.domain.scheduling.policies import user
from tests.domain.scheduling.world import World

ANY = ANYTHING.text
EVERY_SYSTEM = -1


def order(world: World, recipe_id: int, cause: str = "event/1", among: int = EVERY_SYSTEM) -> list[str]:
    """Return the viable systems in the order in which a recipe prefers them."""
    host = world.partition.sets.recipes[recipe_id]
    candidates = world.partition.viable(host) & among
    return [
        world.partition.labs.names[number] for number in choices(world.partition, host, candidates, cause)
    ]


def idle(world: World, pools: dict[str, str], *fqdns: str) -> None:
    """Add idle systems; `pools` maps the name of a pool to the letters of its systems."""
    for fqdn in fqdns:
        world.add_system(fqdn, pools=[pool for pool, members in pools.items() if fqdn in members])
    world.settle()


def test_choice__pools_named__come_in_that_order_and_then_the_rest(world: World) -> None:
    idle(world, {"first": "d", "second": "bc", "third": "a"}, "a", "b", "c", "d", "e")
    recipe_id = world.submit(ANY, autopick_pools=("second", "first"))
    assert order(world, recipe_id) == ["b", "c", "d", "a", "e"]
    world.settle()
    assert world.system_of(recipe_id) == "b"


def test_choice__system_in_two_of_the_pools__comes_with_the_first(world: World) -> None:
    idle(world, {"first": "bc", "second": "ab"}, "a", "b", "c")
    recipe_id = world.submit(ANY, autopick_pools=("first", "second"))
    assert order(world, recipe_id) == ["b", "c", "a"]


def test_choice__pool_without_systems__is_ignored(world: World) -> None:
    idle(world, {}, "a", "b")
    recipe_id = world.submit(ANY, autopick_pools=("nobody", "nothing"))
    assert order(world, recipe_id) == ["a", "b"]


def test_choice__pool_preferred_but_its_systems_busy__takes_one_of_the_rest(world: World) -> None:
    # A preference, not a requirement.
    idle(world, {"net": "a"}, "a", "b")
    occupy(world, "a")
    recipe_id = world.submit(ANY, autopick_pools=("net",))
    world.settle()
    assert world.system_of(recipe_id) == "b"


def test_choice__owned_by_the_submitter__come_first(world: World) -> None:
    idle(world, {}, "a", "b")
    world.own("b", "eve")
    recipe_id = world.submit(ANY, owner="eve")
    assert order(world, recipe_id) == ["b", "a"]


def test_choice__fewest_waiting_recipes_could_use_system__first(world: World) -> None:
    idle(world, {}, "a", "b", "c")
    occupy(world, "a", "b", "c")
    for wants in ("ab", "ab", "a", "c"):
        world.submit(named(*wants))
    world.settle()
    recipe_id = world.submit(ANY)
    # Waiting recipes: c 1, b 2, a 3, besides the recipe itself.
    assert order(world, recipe_id) == ["c", "b", "a"]


def test_choice__placed_recipes__are_not_counted_any_more(world: World) -> None:
    idle(world, {}, "a", "b")
    occupy(world, "a", "b")
    waiting = world.submit(named("a"))
    world.settle()
    recipe_id = world.submit(ANY)
    assert order(world, recipe_id) == ["b", "a"]
    world.cancel(waiting)
    assert order(world, recipe_id) == ["a", "b"]


def test_choice__system_changed_so_that_more_recipes_fit__recounted(world: World) -> None:
    world.add_system("a", memory_mb=16_384)
    world.add_system("b")
    world.settle()
    occupy(world, "a", "b")
    world.submit(BIG.text)
    world.settle()
    recipe_id = world.submit(ANY)
    assert order(world, recipe_id) == ["b", "a"]
    world.describe("b", memory_mb=16_384)
    assert order(world, recipe_id) == ["a", "b"]


def test_choice__own_systems_that_many_could_use__still_come_before_others(world: World) -> None:
    idle(world, {}, "a", "b")
    world.own("b", "eve")
    occupy(world, "a", "b")
    world.submit(named("b"))
    world.settle()
    recipe_id = world.submit(ANY, owner="eve")
    assert order(world, recipe_id) == ["b", "a"]


def test_choice__all_equal__by_name_for_any_order_of_registration(world: World) -> None:
    idle(world, {}, "m9", "m10", "m2")
    recipe_id = world.submit(ANY)
    assert order(world, recipe_id) == ["m10", "m2", "m9"]
    idle(world, {}, "m1")
    assert order(world, recipe_id) == ["m1", "m10", "m2", "m9"]


def test_choice__recipes_without_access__not_counted(world: World) -> None:
    idle(world, {}, "a", "b")
    occupy(world, "a", "b")
    for _ in range(2):
        world.submit(named(*"ab"), owner="bob")
    world.submit(named("a"), owner="eve")
    world.settle()
    recipe_id = world.submit(ANY, owner="eve")
    assert order(world, recipe_id) == ["b", "a"]
    world.open_system("a", user("eve"))
    # a: two recipes of eve; b: two of bob, and one of eve.
    assert order(world, recipe_id) == ["a", "b"]


def test_choice__on_loan_to_another_user__no_candidate(world: World) -> None:
    idle(world, {"net": "a"}, "a", "b")
    world.lend("a", "bob")
    assert order(world, world.submit(ANY, owner="eve", autopick_pools=("net",))) == ["b"]
    assert order(world, world.submit(ANY, owner="bob", autopick_pools=("net",))) == ["a", "b"]


# Random choice


def first_choices(world: World, recipe_id: int, causes: Iterable[int]) -> Counter[str]:
    return Counter(order(world, recipe_id, f"event/{position}")[0] for position in causes)


def test_random_choice__same_cause_and_recipe__is_the_same_again(world: World) -> None:
    idle(world, {}, *"abcdefgh")
    recipe_id = world.submit(ANY, autopick_random=True)
    assert order(world, recipe_id, "event/7") == order(world, recipe_id, "event/7")


def test_random_choice__recorded_cause_and_recipe__unchanged_result(world: World) -> None:
    # Recorded results: a replay of an old log must choose the same.
    idle(world, {}, *"abcdefgh")
    recipe_id = world.submit(ANY, autopick_random=True)
    assert "".join(order(world, recipe_id, "event/7")) == "dgbahefc"


def test_random_choice__many_causes__chooses_each_system_about_as_often(world: World) -> None:
    idle(world, {}, *"abcd")
    recipe_id = world.submit(ANY, autopick_random=True)
    counts = first_choices(world, recipe_id, range(1_000))
    assert set(counts) == set("abcd")
    assert min(counts.values()) > 180


def test_random_choice__two_recipes_with_one_cause__independent(world: World) -> None:
    idle(world, {}, *"abcdefgh")
    one, other = world.submit_set([ANY, ANY], autopick_random=True)
    causes = [f"event/{position}" for position in range(50)]
    assert [order(world, one, cause) for cause in causes] != [order(world, other, cause) for cause in causes]


def test_random_choice__pools_named_too__chance_decides_within_each(world: World) -> None:
    idle(world, {"net": "cd"}, *"abcd")
    recipe_id = world.submit(ANY, autopick_random=True, autopick_pools=("net",))
    assert set(first_choices(world, recipe_id, range(50))) == {"c", "d"}
    assert {"".join(sorted(order(world, recipe_id, f"event/{n}")[2:])) for n in range(50)} == {"ab"}


def test_random_choice__no_pools_named__chance_decides_across_all_of_them(world: World) -> None:
    # Design 5.5: no preference between the pools that a requirement asks for.
    idle(world, {"net": "ab", "gpu": "c", "big": "d"}, *"abcde")
    either = {"or": [{"element": "pool", "op": "==", "value": pool} for pool in ("net", "gpu")]}
    recipe_id = world.submit(HOST.examine(either).text, autopick_random=True)
    assert set(first_choices(world, recipe_id, range(100))) == {"a", "b", "c"}
    anywhere = world.submit(ANY, autopick_random=True)
    assert set(first_choices(world, anywhere, range(100))) == set("abcde")


def test_random_choice__several_pools_named__their_order_stays_and_chance_decides_within_each(
    world: World,
) -> None:
    idle(world, {"net": "cd", "gpu": "ab"}, *"abcdef")
    recipe_id = world.submit(ANY, autopick_random=True, autopick_pools=("net", "gpu"))
    drawn = {"".join(order(world, recipe_id, f"event/{position}")) for position in range(100)}
    for first, (one, other) in enumerate(("cd", "ab", "ef")):
        assert {names[2 * first : 2 * first + 2] for names in drawn} == {one + other, other + one}


def test_random_choice__submitter_owns_a_system__still_random(world: World) -> None:
    idle(world, {}, "a", "b")
    world.own("b", "eve")
    recipe_id = world.submit(ANY, autopick_random=True, owner="eve")
    assert set(first_choices(world, recipe_id, range(50))) == {"a", "b"}


def test_new_job__several_idle_systems__takes_the_first_by_name(world: World) -> None:
    world.add_idle("m9", "m10", "m2")
    recipe_id = world.submit(ANYTHING.text)
    world.settle()
    assert world.recipes[recipe_id].system == "m10"


def test_new_job__idle_system_found__both_go_to_waiting_in_one_decision(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    (decided,) = world.settle()
    assert [(subject, event.TOPIC) for subject, event in decided.events] == [
        ("recipe/1", "recipe.scheduled"),
        ("system/a", "system.scheduled"),
        ("recipe/1", "recipe.waiting"),
        ("system/a", "system.waiting"),
    ]


def test_new_job__every_viable_system_busy__is_queued_with_the_reason(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    world.submit(ANYTHING.text)
    assert world.settle()[-1].events == (("recipe/2", RecipeQueued(reason=NO_IDLE_SYSTEM)),)


@pytest.mark.parametrize("condition", ["Manual", "Broken"])
def test_new_job__only_viable_system_is_not_automated__is_queued_not_aborted(
    world: World, condition: str
) -> None:
    world.add_system("a", condition=condition)
    world.submit(ANYTHING.text)
    world.settle()
    assert world.recipes[1].state == "queued"


def test_new_job__lab_disabled__is_queued(world: World) -> None:
    world.add_idle("a")
    world.enable("lab-1", False)
    world.submit(ANYTHING.text)
    world.settle()
    assert world.recipes[1].state == "queued"


def test_new_job__two_in_one_batch_and_one_idle_system__second_is_queued(world: World) -> None:
    world.add_idle("a")
    first, second = world.submit(ANYTHING.text), world.submit(ANYTHING.text)
    assert len(world.decide(limit=2)) == 2
    world.settle()
    assert (world.recipes[first].state, world.recipes[second].state) == ("waiting", "queued")


def test_new_jobs__same_basis__served_in_rank_order(world: World) -> None:
    world.add_idle("a")
    low, normal, urgent = (world.submit(ANYTHING.text, priority=each) for each in ("Low", "Normal", "Urgent"))
    world.change_priority(normal, "High")
    answered = [int(decision.trigger.name) for decision in world.settle()]
    assert answered == [world.recipes[each].recipe_set_id for each in (urgent, normal, low)]
    assert world.states(urgent, normal, low) == ["waiting", "queued", "queued"]


def test_new_jobs__priority_changed_between_two_commits_of_a_batch__new_priority_counts(world: World) -> None:
    world.add_idle("a", "b")
    low, high, urgent = (world.submit(ANYTHING.text, priority=each) for each in ("Low", "High", "Urgent"))
    world.commit_decisions(world.decide(limit=1), world.position)
    world.change_priority(low, "Urgent")
    assert decide(world.refolded(), 1) == world.decide(limit=1)
    world.settle()
    assert world.states(urgent, low, high) == ["waiting", "waiting", "queued"]


def test_new_job__impossible_one_between_two_others__only_that_one_is_aborted(world: World) -> None:
    world.add_idle("a")
    for host_requires in (ANYTHING.text, HUGE.text, ANYTHING.text):
        world.submit(host_requires)
    world.settle()
    assert [recipe.state for recipe in world.recipes.values()] == ["waiting", "aborted", "queued"]


def test_new_job__exclusion_of_another_arch_or_version__does_not_count(world: World) -> None:
    others = [("ppc64le", "Fedora", None), ("x86_64", "Fedora", "39"), ("x86_64", "CentOS", None)]
    rows = [{"arch": arch, "family": family, "version": version} for arch, family, version in others]
    world.add_system("a", excluded_families=rows)
    world.settle()
    world.submit(ANYTHING.text)
    world.settle()
    assert world.recipes[1].state == "waiting"


def test_decision__new_job__expects_versions_of_its_recipe_and_system(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    (decision,) = world.decide()
    system = ("system/a", world.systems["a"].version)
    place = ("partition/default", 0), ("lab-controller/lab-1", 1)
    assert decision.expected == (*place, ("recipe/1", 1), system)


def test_new_job__older_recipe_queued_until_its_lab_was_enabled__older_is_first(world: World) -> None:
    world.add_idle("a", "b")
    lab = world.systems["a"].lab_controller
    world.enable(lab, False)
    world.submit(ANYTHING.text)
    world.settle()
    assert world.recipes[1].state == "queued"

    world.enable(lab, True)
    world.submit(ANYTHING.text)
    world.settle()

    assert (world.system_of(1), world.system_of(2)) == ("a", "b")


@pytest.mark.parametrize("condition", ["Automated", "Manual", "Broken"])
def test_new_job__forces_an_idle_system__gets_it_in_any_condition(world: World, condition: str) -> None:
    world.add_system("a", condition=condition)
    world.add_idle("b")
    forcing = world.submit(forces("a"))
    world.settle()
    assert (world.system_of(forcing), world.states(forcing)) == ("a", ["waiting"])
    assert world.systems["a"].usage == "waiting"


def _drained(world: World) -> None:
    world.drain("a")


def _reserved(world: World) -> None:
    world.set_condition("a", "Manual")
    world.settle()
    world.reserve("a")


def _lab_disabled(world: World) -> None:
    world.enable("lab-1", False)


@pytest.mark.parametrize("make_unusable", [_drained, _reserved, _lab_disabled])
def test_new_job__forces_an_unusable_system__queued(world: World, make_unusable) -> None:  # type: ignore[no-untyped-def]
    world.add_idle("a")
    make_unusable(world)
    world.settle()
    world.submit(forces("a"))
    world.settle()
    assert world.states() == ["queued"]


def test_new_job__wake_up_before_its_basis__answered_first(world: World) -> None:
    world.add_idle("a")
    world.enable("lab-1", False)
    waiting = world.submit(ANYTHING.text)
    world.settle()
    newcomer = world.submit(ANYTHING.text, priority="Urgent")
    world.enable("lab-1", True)
    assert [decision.trigger.kind for decision in world.settle()] == ["wake-up", "new-job"]
    assert (world.system_of(waiting), world.states(newcomer)) == ("a", ["queued"])


def test_new_job__wake_up_while_its_batch_is_answered__queue_gets_the_idle_system(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_system("b", "lab-2")
    world.add_idle("a")
    world.enable("lab-1", False)
    waiting = world.submit(named("a"))
    world.settle()
    first, second = world.submit(named("b")), world.submit(named("a"), priority="Low")
    world.commit_decisions(world.decide(limit=1), world.position)
    world.enable("lab-1", True)
    assert [decision.trigger.kind for decision in world.settle()] == ["new-job", "wake-up"]
    assert (world.system_of(first), world.system_of(waiting), world.states(second)) == ("b", "a", ["queued"])
