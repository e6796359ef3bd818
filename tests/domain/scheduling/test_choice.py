"""The choice between several idle systems for a recipe (design section 5.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from domain.requirements.host import HOST
from domain.scheduling.decisions.choice import choices
from tests.domain.scheduling.host_requirements import ANYTHING, BIG, named
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
    """Add idle systems, each in the pools whose text has its letter."""
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


def test_choice__pool_without_systems__is_passed_over(world: World) -> None:
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


def test_choice__system_changed_so_that_fewer_want_it__recounted(world: World) -> None:
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


def taken(world: World, recipe_id: int, causes: Iterable[int]) -> Counter[str]:
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


def test_random_choice__many_causes__takes_each_about_as_often(world: World) -> None:
    idle(world, {}, *"abcd")
    recipe_id = world.submit(ANY, autopick_random=True)
    counts = taken(world, recipe_id, range(1_000))
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
    assert set(taken(world, recipe_id, range(50))) == {"c", "d"}
    assert {"".join(sorted(order(world, recipe_id, f"event/{n}")[2:])) for n in range(50)} == {"ab"}


def test_random_choice__no_pools_named__chance_decides_across_all_of_them(world: World) -> None:
    # Design 5.5: no preference between the pools that a requirement asks for.
    idle(world, {"net": "ab", "gpu": "c", "big": "d"}, *"abcde")
    either = {"or": [{"element": "pool", "op": "==", "value": pool} for pool in ("net", "gpu")]}
    recipe_id = world.submit(HOST.examine(either).text, autopick_random=True)
    assert set(taken(world, recipe_id, range(100))) == {"a", "b", "c"}
    anywhere = world.submit(ANY, autopick_random=True)
    assert set(taken(world, anywhere, range(100))) == set("abcde")


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
    assert set(taken(world, recipe_id, range(50))) == {"a", "b"}
