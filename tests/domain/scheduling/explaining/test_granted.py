"""Why a recipe got its system, case by case; the partition is the one that the decision was made on."""

from __future__ import annotations

from domain.scheduling.explaining.granted import MAX_SHOWN, Granted, why_granted
from domain.scheduling.supply.reasons import SUBMITTED_BEFORE, UNSAFE
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.labs import finish, occupy, wanting
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.world import World


def granted(world: World, recipe_id: int) -> Granted:
    told = why_granted(world.partition, recipe_id, world.now, limit=100)
    assert told is not None, f"recipe {recipe_id} is about to be given a system"
    return told


def test_granted__system_came_free__tells_who_stood_behind_and_by_what(world: World) -> None:
    world.put_group("qe", "ada")
    world.open_pool("p", everybody("Medium"), group("qe"))
    world.add_system("a", pools=["p"])
    world.settle()
    runs = occupy(world, "a")["a"]
    urgent = world.submit(ANYTHING.text, priority="Urgent")
    ours, later = (world.submit(ANYTHING.text, group="qe") for _ in range(2))
    world.settle()
    world.complete(runs)
    told = granted(world, ours)
    assert (told.system, told.effective_priority, told.passed_over) == ("a", "Normal", ())
    assert [(one.recipe_id, one.priority, one.effective_priority, one.why) for one in told.behind] == [
        (later, "Normal", "Normal", SUBMITTED_BEFORE),
        (urgent, "Urgent", "Medium", "effective priority Normal before Medium"),
    ]
    assert told.cause == f"event/{world.systems['a'].since}"


def test_granted__who_stood_before_would_have_been_unsafe__tells_that(world: World) -> None:
    world.add_idle("a", "b", "c")
    runs = occupy(world, "a", "b", "c")
    finish(world, runs["c"], runs["b"])
    first = wanting(world, "a", "b")
    second = wanting(world, "c", "a", "b", priority="High")
    world.complete(runs["a"])
    told = granted(world, first[0])
    assert [(one.recipe_id, one.why) for one in told.passed_over] == [(second[1], UNSAFE)]


def test_granted__of_several_idle_systems__tells_them_by_what_decides(world: World) -> None:
    world.add_idle("a", "b", "c")
    world.own("a", "eve")
    world.own("b", "eve")
    world.set_pool("p", "b", True)
    world.settle()
    recipe_id = world.submit(ANYTHING.text, owner="ada", autopick_pools=["p"])
    told = granted(world, recipe_id)
    assert told.system == "b"
    assert [(one.fqdn, one.pool, one.own) for one in told.choices] == [
        ("b", "p", False),
        ("c", None, True),
        ("a", None, False),
    ]


def test_granted__its_job_asks_for_any_of_the_systems__says_that_it_was_drawn(world: World) -> None:
    world.add_idle("a", "b")
    drawn = world.submit(ANYTHING.text, autopick_random=True)
    assert granted(world, drawn).summary.endswith("was idle; drawn at random, as its job asks")
    world.settle()
    chosen = world.submit(ANYTHING.text)
    assert granted(world, chosen).summary.endswith("was idle")


def test_granted__after_others_of_the_same_commit__knows_what_they_took(world: World) -> None:
    world.add_idle("a", "b")
    first, second = (world.submit(ANYTHING.text) for _ in range(2))
    assert (granted(world, first).system, granted(world, second).system) == ("a", "b")
    assert [one.fqdn for one in granted(world, second).choices] == ["b"]
    world.settle()
    assert (world.system_of(first), world.system_of(second)) == ("a", "b")


def test_granted__recipes_of_one_set__each_knows_what_those_before_it_took(world: World) -> None:
    world.add_idle("a", "b", "c")
    ids = world.submit_set([ANYTHING.text] * 3)
    told = [granted(world, recipe_id) for recipe_id in ids]
    assert [[choice.fqdn for choice in one.choices] for one in told] == [["a", "b", "c"], ["b", "c"], ["c"]]
    world.settle()
    assert [world.system_of(recipe_id) for recipe_id in ids] == ["a", "b", "c"]


def test_granted__lists_are_cut__says_of_how_many(world: World) -> None:
    world.add_idle(*"abcdefgh")
    told = granted(world, world.submit(ANYTHING.text))
    assert (len(told.choices), told.choices_count) == (MAX_SHOWN, 8)
    world.settle()
    runs = occupy(world, *"bcdefgh")["b"]
    first, *_ = [world.submit(ANYTHING.text) for _ in range(8)]
    world.settle()
    world.complete(runs)
    told = granted(world, first)
    assert (len(told.behind), told.behind_count) == (MAX_SHOWN, 7)


def test_granted__systems_that_may_not_be_seen__are_neither_listed_nor_counted(world: World) -> None:
    world.add_idle("a", "b", "c")
    recipe_id = world.submit(ANYTHING.text)
    told = why_granted(world.partition, recipe_id, world.now, 100, unseen={"b"})
    assert told is not None
    assert ([one.fqdn for one in told.choices], told.choices_count) == (["a", "c"], 2)
