"""Explanations of grants, case by case, on the partition at the basis of the decision."""

from __future__ import annotations

from domain.scheduling.explaining.granted import MAX_SHOWN, Granted, why_granted
from domain.scheduling.supply.reasons import SUBMITTED_BEFORE, UNSAFE
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.labs import finish, occupy, wanting
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.world import World


def granted(world: World, recipe_id: int) -> Granted:
    answer = why_granted(world.partition, recipe_id, world.now, limit=100)
    assert answer is not None, f"recipe {recipe_id} is about to be given a system"
    return answer


def test_granted__system_came_free__lists_recipes_behind_with_criterion(world: World) -> None:
    world.put_group("qe", "ada")
    world.open_pool("p", everybody("Medium"), group("qe"))
    world.add_system("a", pools=["p"])
    world.settle()
    runs = occupy(world, "a")["a"]
    urgent = world.submit(ANYTHING.text, priority="Urgent")
    ours, later = (world.submit(ANYTHING.text, group="qe") for _ in range(2))
    world.settle()
    world.complete(runs)
    answer = granted(world, ours)
    assert (answer.system, answer.effective_priority, answer.passed_over) == ("a", "Normal", ())
    assert [(one.recipe_id, one.priority, one.effective_priority, one.why) for one in answer.behind] == [
        (later, "Normal", "Normal", SUBMITTED_BEFORE),
        (urgent, "Urgent", "Medium", "effective priority Normal before Medium"),
    ]
    assert answer.cause == f"event/{world.systems['a'].since}"


def test_granted__higher_ranked_recipe_unsafe__listed_as_passed_over(world: World) -> None:
    world.add_idle("a", "b", "c")
    runs = occupy(world, "a", "b", "c")
    finish(world, runs["c"], runs["b"])
    first = wanting(world, "a", "b")
    second = wanting(world, "c", "a", "b", priority="High")
    world.complete(runs["a"])
    answer = granted(world, first[0])
    assert [(one.recipe_id, one.why) for one in answer.passed_over] == [(second[1], UNSAFE)]


def test_granted__several_idle_systems__lists_choices_with_criteria(world: World) -> None:
    world.add_idle("a", "b", "c")
    world.own("a", "eve")
    world.own("b", "eve")
    world.set_pool("p", "b", True)
    world.settle()
    recipe_id = world.submit(ANYTHING.text, owner="ada", autopick_pools=["p"])
    answer = granted(world, recipe_id)
    assert answer.system == "b"
    assert [(one.fqdn, one.pool, one.own) for one in answer.choices] == [
        ("b", "p", False),
        ("c", None, True),
        ("a", None, False),
    ]


def test_granted__random_choice__summary_says_so(world: World) -> None:
    world.add_idle("a", "b")
    drawn = world.submit(ANYTHING.text, autopick_random=True)
    assert granted(world, drawn).summary.endswith("was idle; drawn at random, as its job asks")
    world.settle()
    chosen = world.submit(ANYTHING.text)
    assert granted(world, chosen).summary.endswith("was idle")


def test_granted__after_others_of_the_same_commit__without_systems_of_those(world: World) -> None:
    world.add_idle("a", "b")
    first, second = (world.submit(ANYTHING.text) for _ in range(2))
    assert (granted(world, first).system, granted(world, second).system) == ("a", "b")
    assert [one.fqdn for one in granted(world, second).choices] == ["b"]
    world.settle()
    assert (world.system_of(first), world.system_of(second)) == ("a", "b")


def test_granted__recipes_of_one_set__without_systems_of_earlier_ones(world: World) -> None:
    world.add_idle("a", "b", "c")
    ids = world.submit_set([ANYTHING.text] * 3)
    answer = [granted(world, recipe_id) for recipe_id in ids]
    assert [[choice.fqdn for choice in one.choices] for one in answer] == [["a", "b", "c"], ["b", "c"], ["c"]]
    world.settle()
    assert [world.system_of(recipe_id) for recipe_id in ids] == ["a", "b", "c"]


def test_granted__lists_are_limited__counts_are_complete(world: World) -> None:
    world.add_idle(*"abcdefgh")
    answer = granted(world, world.submit(ANYTHING.text))
    assert (len(answer.choices), answer.choices_count) == (MAX_SHOWN, 8)
    world.settle()
    runs = occupy(world, *"bcdefgh")["b"]
    first, *_ = [world.submit(ANYTHING.text) for _ in range(8)]
    world.settle()
    world.complete(runs)
    answer = granted(world, first)
    assert (len(answer.behind), answer.behind_count) == (MAX_SHOWN, 7)


def test_granted__hidden_systems__neither_listed_nor_counted(world: World) -> None:
    world.add_idle("a", "b", "c")
    recipe_id = world.submit(ANYTHING.text)
    answer = why_granted(world.partition, recipe_id, world.now, 100, hidden={"b"})
    assert answer is not None
    assert ([one.fqdn for one in answer.choices], answer.choices_count) == (["a", "c"], 2)
