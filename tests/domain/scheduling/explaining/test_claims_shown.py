"""Explanations with claims: who is asked first, and who is passed over for a claimant."""

from __future__ import annotations

import pytest

from domain.scheduling.explaining.candidates import Candidate
from domain.scheduling.explaining.granted import Granted, why_granted
from domain.scheduling.explaining.places import places_on
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from domain.scheduling.supply.reasons import CLAIMS_IT, OWN_CLAIM, SUBMITTED_BEFORE, UNSAFE
from tests.domain.scheduling.host_requirements import ANYTHING, forces, named
from tests.domain.scheduling.labs import occupy
from tests.domain.scheduling.world import World


@pytest.fixture
def busy(world: World) -> World:
    """Add system a with a running recipe, 1."""
    world.add_idle("a")
    occupy(world, "a")
    return world


def on_a(world: World, recipe_id: int) -> Candidate:
    host = world.partition.sets.recipes[recipe_id]
    (found,) = (
        one for one in why_it_waits(world.partition, host, WaitingOptions(10)).systems if one.fqdn == "a"
    )
    return found


def why(world: World, recipe_id: int) -> Granted:
    found = why_granted(world.partition, recipe_id, world.now, 10)
    assert found is not None
    return found


def order_on_a(world: World) -> list[int]:
    return [each.recipe_id for each in places_on(world.partition, world.systems["a"], world.now)]


def test_waiting__system_is_claimed__names_the_claimant_that_is_ahead(busy: World) -> None:
    first, second = busy.submit(ANYTHING.text, priority="High"), busy.submit(ANYTHING.text, priority="High")
    claimant = busy.submit(forces("a"), priority="Low")
    busy.settle()
    theirs = on_a(busy, second)
    assert theirs.reasons == ("waiting with recipe 1", f"claimed by recipe {claimant}")
    assert theirs.before == 2
    assert [(one.recipe_id, one.by) for one in theirs.ahead] == [
        (claimant, CLAIMS_IT),
        (first, SUBMITTED_BEFORE),
    ]
    own = on_a(busy, claimant)
    assert (own.reasons, own.before, own.ahead) == (("waiting with recipe 1", OWN_CLAIM), 0, ())


@pytest.mark.parametrize("priority", ["High", "Low"])
def test_waiting__claimed_system__is_first_in_order_only_for_its_claimant(busy: World, priority: str) -> None:
    """The claimant counts once, wherever it would rank without its claim."""
    other = busy.submit(ANYTHING.text)
    claimant = busy.submit(forces("a"), priority=priority)
    busy.settle()
    counts = {
        each: why_it_waits(busy.partition, busy.partition.sets.recipes[each], WaitingOptions(10)).counted
        for each in (other, claimant)
    }
    assert [counts[each].first_in_order for each in (other, claimant)] == [0, 1]
    assert on_a(busy, other).before == 1


def test_queue_of_a_system__claimant__is_first_and_listed_once(busy: World) -> None:
    urgent, claimant = busy.submit(ANYTHING.text, priority="Urgent"), busy.submit(forces("a"), priority="Low")
    busy.settle()
    assert order_on_a(busy) == [claimant, urgent]
    first, *_ = places_on(busy.partition, busy.systems["a"], busy.now)
    behind = places_on(busy.partition, busy.systems["a"], busy.now, first.key)
    assert [each.recipe_id for each in behind] == [urgent]


def test_granted__claimant__summary_names_the_claim(busy: World) -> None:
    urgent, claimant = busy.submit(ANYTHING.text, priority="Urgent"), busy.submit(forces("a"), priority="Low")
    busy.settle()
    busy.complete(1)
    granted = why(busy, claimant)
    assert granted.summary == "a was free, and the recipe had claimed it"
    assert granted.passed_over == ()
    assert [(one.recipe_id, one.why) for one in granted.behind] == [(urgent, CLAIMS_IT)]


def test_granted__claimant_would_be_unsafe__is_passed_over_first(busy: World) -> None:
    busy.add_idle("c")
    _, missing = busy.submit_set([named("c"), named("a")])
    busy.settle()
    claimant, _ = busy.submit_set([forces("a"), named("c")])
    busy.settle()
    busy.complete(1)
    assert [(one.recipe_id, one.why) for one in why(busy, missing).passed_over] == [(claimant, UNSAFE)]
