"""Claims: busy systems that recipes wait for, and what a system does that comes free (design 6.3)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.recipe.claim import ENDED, NO_ROOM, OVER, SERVED, SYSTEM_AWAY, Claim
from domain.recipe.events import RecipeClaimed, RecipeClaimEnded
from domain.scheduling.world.snapshot import pieces
from tests.domain.scheduling.consistency_loop import nothing_expires, tick
from tests.domain.scheduling.host_requirements import ANYTHING, forces, named
from tests.domain.scheduling.labs import occupy
from tests.domain.scheduling.world import World

TICK_SECONDS = 30


@pytest.fixture
def busy(world: World) -> World:
    """Add the systems a and b, each with a running recipe."""
    world.add_idle("a", "b")
    occupy(world, "a", "b")
    return world


def claims(world: World) -> dict[int, str]:
    """Return the claimed system of each claimant, which the index must have, too."""
    found = {number: each.claim for number, each in world.recipes.items() if each.claim is not None}
    indexed = {number: system for system, number in world.partition.sets.claims.of.items()}
    assert indexed == {number: claim.system for number, claim in found.items()}
    return indexed


def ended(world: World, recipe_id: int) -> list[tuple[str, str]]:
    """Return the systems and reasons of the claims of a recipe that have ended."""
    own = (each.event for each in world.log if each.subject == f"recipe/{recipe_id}")
    return [(event.system, event.reason) for event in own if isinstance(event, RecipeClaimEnded)]


def holder(world: World, fqdn: str) -> int:
    recipe_id = world.systems[fqdn].recipe_id
    assert recipe_id is not None
    return recipe_id


# By force


def test_claim__recipe_forces_a_busy_system__claims_it_after_the_decision(busy: World) -> None:
    recipe_id = busy.submit(forces("a"))
    *_, last = busy.settle()
    assert last.trigger.kind == "claims"
    assert last.events == ((f"recipe/{recipe_id}", RecipeClaimed(system="a", forced=True)),)
    assert claims(busy) == {recipe_id: "a"}
    assert busy.recipes[recipe_id].claim == Claim("a", True, busy.log[-1].recorded_at)


def test_claim__recipe_forces_the_system_in_another_case__claims_it(busy: World) -> None:
    recipe_id = busy.submit(forces("A"))
    busy.settle()
    assert claims(busy) == {recipe_id: "a"}


def test_claim__names_differ_in_case_only__recipe_claims_one_of_the_systems(busy: World) -> None:
    busy.add_idle("A")
    occupy(busy, "A")
    recipe_id = busy.submit(forces("a"))
    busy.settle()
    assert set(claims(busy)) == {recipe_id}
    busy.drain(claims(busy)[recipe_id])
    busy.settle()
    assert set(claims(busy)) == {recipe_id}


def test_claim__recipe_names_a_busy_system__claims_nothing(busy: World) -> None:
    busy.submit(named("a"))
    busy.settle()
    assert claims(busy) == {}


def test_claim__two_recipes_force_the_system__the_first_claims_and_the_second_follows(busy: World) -> None:
    low, high = busy.submit(forces("a"), priority="Low"), busy.submit(forces("a"), priority="High")
    busy.settle()
    assert claims(busy) == {high: "a"}
    busy.cancel(high)
    busy.settle()
    assert (claims(busy), ended(busy, high)) == ({low: "a"}, [("a", ENDED)])


def test_claim__claimed_system_comes_free__asks_its_claimant_before_all_others(busy: World) -> None:
    claimant, urgent = busy.submit(forces("a"), priority="Low"), busy.submit(ANYTHING.text, priority="Urgent")
    busy.settle()
    busy.complete(holder(busy, "a"))
    busy.settle()
    assert busy.states(claimant, urgent) == ["waiting", "queued"]
    assert ended(busy, claimant) == [("a", SERVED)]
    assert claims(busy) == {}


def test_claim__claimant_is_granted_another_system__served(busy: World) -> None:
    claimant = aged_claimant(busy, "a")
    busy.complete(holder(busy, "b"))
    busy.settle()
    assert (busy.system_of(claimant), ended(busy, claimant)) == ("b", [("a", SERVED)])


AWAY: dict[str, Callable[[World], None]] = {
    "drained": lambda world: world.drain("a"),
    "broken and removed": lambda world: world.set_condition("a", "Removed"),
    "occupied": lambda world: world.tell_running("a"),
    "lab disabled": lambda world: world.enable("lab-1", False),
    "lab silent": lambda world: world.fall_silent("lab-1"),
    "tree removed": lambda world: world.remove_tree(1),
    "lent": lambda world: world.lend("a", "bob"),
}


@pytest.mark.parametrize("case", AWAY)
def test_claim__system_can_no_longer_be_had__ends(busy: World, case: str) -> None:
    claimant = busy.submit(forces("a"), owner="ada")
    busy.settle()
    AWAY[case](busy)
    busy.settle()
    assert claims(busy) == {}
    assert ended(busy, claimant) == [("a", SYSTEM_AWAY)]


def test_claim__system_is_usable_again__the_recipe_claims_it_again(busy: World) -> None:
    claimant = busy.submit(forces("a"))
    busy.settle()
    busy.drain("a")
    busy.settle()
    assert claims(busy) == {}
    busy.undrain("a")
    busy.settle()
    assert claims(busy) == {claimant: "a"}


def test_claim__recipe_forces_another_system_now__moves(busy: World) -> None:
    claimant = busy.submit(forces("a"))
    busy.settle()
    busy.change_recipe(claimant, host_requires=forces("b"))
    busy.settle()
    assert (claims(busy), ended(busy, claimant)) == ({claimant: "b"}, [("a", SYSTEM_AWAY)])


def test_claim__set_is_bound_to_another_lab__ends(busy: World) -> None:
    busy.add_lab("lab-2")
    busy.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    busy.add_system("c", lab="lab-2")
    busy.settle()
    occupied = busy.submit(named("c"))
    busy.settle()
    first, _ = busy.submit_set([forces("a"), ANYTHING.text])
    busy.settle()
    assert claims(busy) == {first: "a"}
    busy.complete(occupied)
    busy.settle()
    assert all(claim == "a" for claim in claims(busy).values())


# By age


def aged_claimant(world: World, fqdn: str) -> int:
    """Let a recipe that fits every system claim one by its age, which is `fqdn`; return the recipe."""
    world.configure(claims={"after_ticks": 2, "for_ticks": 4})
    recipe_id = world.submit(ANYTHING.text)
    found = tick(world, 2 * TICK_SECONDS)
    assert (found.causes, found.findings.claims_begun) == ([f"timer/claim/{recipe_id}"], 1)
    assert claims(world) == {recipe_id: fqdn}
    return recipe_id


def test_claim_by_age__recipe_has_waited__claims_one_system_only(busy: World) -> None:
    busy.configure(claims={"after_ticks": 2})
    recipe_id = busy.submit(ANYTHING.text)
    nothing_expires(busy, 2 * TICK_SECONDS)
    (decision,) = tick(busy, 1).decisions
    assert decision.events == ((f"recipe/{recipe_id}", RecipeClaimed(system="a", forced=False)),)
    assert ("partition/default", busy.directory.version("partition/default")) in decision.expected
    assert tick(busy, 600).causes == []


def test_claim_by_age__no_configuration__nothing_is_claimed(busy: World) -> None:
    busy.submit(ANYTHING.text)
    assert tick(busy, 1_000_000).findings.claims_begun == 0


def test_claim_by_age__recipe_is_nowhere_first__claims_nothing(busy: World) -> None:
    busy.configure(claims={"after_ticks": 2})
    first, second = busy.submit(ANYTHING.text, priority="High"), busy.submit(ANYTHING.text)
    tick(busy, 2 * TICK_SECONDS)
    assert set(claims(busy)) == {first}
    busy.cancel(first)
    tick(busy)
    assert set(claims(busy)) == {second}


def test_claim_by_age__partition_is_stopped__claims_nothing(busy: World) -> None:
    busy.configure(claims={"after_ticks": 2})
    busy.submit(ANYTHING.text)
    busy.settle()
    busy.move_partition("stop")
    assert run_loop_after(busy, 1_000) == []


def test_claim_by_age__its_time_is_over__ends_and_may_begin_again(busy: World) -> None:
    claimant = aged_claimant(busy, "a")
    nothing_expires(busy, 4 * TICK_SECONDS)
    found = tick(busy, 1)
    assert (found.causes, found.findings.claims_over) == ([f"timer/claim/{claimant}"], 1)
    assert ended(busy, claimant) == [("a", OVER)]
    assert tick(busy).findings.claims_begun == 1


def test_claim_by_force__any_time_has_passed__does_not_run_out(busy: World) -> None:
    busy.configure(claims={"after_ticks": 2, "for_ticks": 1})
    claimant = busy.submit(forces("a"))
    busy.settle()
    assert run_loop_after(busy, 3_600) == []
    assert claims(busy) == {claimant: "a"}


def test_claim_by_age__another_recipe_forces_the_system__ends(busy: World) -> None:
    aged = aged_claimant(busy, "a")
    forcing = busy.submit(forces("a"), priority="Low")
    busy.settle()
    assert claims(busy) == {forcing: "a"}
    assert ended(busy, aged) == [("a", ENDED)]


# Room and safety


def test_claimant__has_no_room_when_the_system_asks__loses_the_claim(busy: World) -> None:
    claimant = busy.submit(forces("a"))
    busy.settle()
    busy.configure(limits={"placed_recipes": 1})
    busy.settle()
    busy.complete(holder(busy, "a"))
    busy.settle()
    assert (busy.states(claimant), ended(busy, claimant)) == (["queued"], [("a", NO_ROOM)])
    assert busy.systems["a"].usage == "idle"


def test_claimant__grant_is_unsafe__is_passed_over_and_keeps_its_claim(busy: World) -> None:
    busy.add_idle("c")
    held, missing = busy.submit_set([named("c"), named("a")])
    busy.settle()
    assert busy.states(held, missing) == ["scheduled", "assigned"]
    # The other set needs both a and c: with a it could only wait for the set that has c.
    claimant, _ = busy.submit_set([forces("a"), named("c")])
    busy.settle()
    assert claims(busy) == {claimant: "a"}
    busy.complete(holder(busy, "a"))
    busy.settle()
    assert busy.system_of(missing) == "a"
    assert claims(busy) == {claimant: "a"}


# Restarts and laws


def test_claims__restarted_scheduler__knows_them_and_goes_on(busy: World) -> None:
    claimant, behind = busy.submit(forces("a")), busy.submit(forces("a"))
    busy.settle()
    list(pieces(busy.partition))
    busy.restart()
    assert claims(busy) == {claimant: "a"}
    busy.cancel(claimant)
    busy.settle()
    assert claims(busy) == {behind: "a"}


def test_law_of_claims__index_differs_from_the_recipes__is_broken(busy: World) -> None:
    claimant = busy.submit(forces("a"))
    busy.settle()
    laws = busy.partition.conservation
    assert laws.broken_laws(busy.partition.systems) == {}
    busy.partition.sets.claims.of["b"] = busy.partition.sets.claims.of.pop("a")
    assert laws.broken_laws(busy.partition.systems) == {"claims": 1}
    busy.partition.sets.claims.of.clear()
    assert laws.broken_laws(busy.partition.systems) == {"claims": 1}
    busy.partition.sets.claims.of["a"] = claimant
    assert laws.broken_laws(busy.partition.systems) == {}


def run_loop_after(world: World, seconds: float) -> list[object]:
    """Return the decisions of the loop, which runs after some time."""
    return list(tick(world, seconds).decisions)


# Changed recipes, and the own set


def test_claim__claimant_no_longer_forces_the_system__gives_way_to_one_that_does(busy: World) -> None:
    claimant = busy.submit(forces("a"))
    busy.settle()
    busy.change_recipe(claimant, host_requires=named("a"))
    busy.settle()
    assert (claims(busy), ended(busy, claimant)) == ({}, [("a", SYSTEM_AWAY)])
    forcing = busy.submit(forces("a"))
    busy.settle()
    assert claims(busy) == {forcing: "a"}


def test_claim_by_age__claimant_forces_the_system_now__claims_it_by_force(busy: World) -> None:
    claimant = aged_claimant(busy, "a")
    busy.change_recipe(claimant, host_requires=forces("a"))
    busy.settle()
    claim = busy.recipes[claimant].claim
    assert (claims(busy), claim is not None and claim.forced) == ({claimant: "a"}, True)


def test_claim_by_age__guest_wants_another_tree__ends(busy: World) -> None:
    busy.configure(claims={"after_ticks": 2})
    (host,) = busy.submit_set([ANYTHING.text], guests={0: [1]})
    tick(busy, 2 * TICK_SECONDS)
    assert set(claims(busy)) == {host}
    busy.put_tree(2, "x86_64", ["lab-9"])
    busy.change_recipe(host + 1, distro_tree_id=2)
    busy.settle()
    assert claims(busy) == {}


def test_claim_by_age__system_of_a_sibling__is_not_claimed(busy: World) -> None:
    busy.configure(claims={"after_ticks": 2})
    busy.add_idle("0")
    first, second = busy.submit_set([named("0", "b"), named("0", "b")])
    busy.settle()
    assert busy.states(first, second) == ["scheduled", "assigned"]
    tick(busy, 2 * TICK_SECONDS)
    assert claims(busy) == {second: "b"}


def test_claim_by_age__lab_has_too_few_systems_for_the_set__claims_in_another_lab(busy: World) -> None:
    busy.add_lab("lab-2")
    busy.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    for fqdn in ("c", "d"):
        busy.add_system(fqdn, lab="lab-2")
    busy.settle()
    occupy(busy, "c", "d")
    busy.configure(claims={"after_ticks": 2})
    busy.submit_set([named("a", "c", "d"), named("a", "c", "d")])
    tick(busy, 2 * TICK_SECONDS)
    assert set(claims(busy).values()) <= {"c", "d"} and claims(busy)
