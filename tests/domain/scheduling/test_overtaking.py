"""Bounded overtaking: assigned recipes come before queued ones of earlier sets, but not for ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from domain.admission.configuration import ALWAYS, WITHIN_PRIORITY
from domain.recipe.events import RecipeScheduled
from domain.scheduling.decisions import overtaking
from domain.scheduling.decisions.decide import decide
from domain.scheduling.decisions.wake_up_grants import all_idle
from domain.scheduling.explaining.places import places_on, why_before
from domain.scheduling.explaining.waiting import Overtaken, WaitingOptions, why_it_waits
from domain.scheduling.supply.reasons import ITS_SET_IS_IN_LAB, OVERTAKEN
from domain.scheduling.world.triggers import WAKE_UP, Trigger
from domain.system.events import SystemIdle
from replay.audit import from_recorded
from tests.domain.scheduling import streams
from tests.domain.scheduling.contents import answers, check_indexes, contents, restored_copy, snapshot_of
from tests.domain.scheduling.history import Acts, burst
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import finish, occupy, wanting
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.streams import SERVICE_TIMES, Beside, Stream
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_sound

BOUND = 8
STREAMS = {
    "[C, A for 2] beside [A]": streams.C_AND_A,
    "[A, any] beside 20 [A]": streams.A_AND_ANY,
    "[Ai, any] beside [A0, A1, A2, A3]": streams.ONE_OF_FOUR,
}
by_stream = pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS.keys())


# No starvation


@by_stream
@pytest.mark.parametrize("assigned_first", [WITHIN_PRIORITY, ALWAYS])
def test_stream__waiting_sets__start_within_the_bound(stream: Stream, assigned_first: str) -> None:
    beside = Beside(stream, assigned_first, BOUND)
    beside.run()
    assert len(beside.started) == len(beside.waiting), f"started: {beside.started}"
    assert max(beside.overtakings) <= BOUND
    assert_sound(from_recorded(beside.world.log))


@by_stream
def test_stream__always_and_no_bound__nobody_starts(stream: Stream) -> None:
    beside = Beside(stream, ALWAYS, None)
    beside.run(SERVICE_TIMES // 8)
    assert not beside.started


def test_stream__equal_priorities_and_no_bound__set_does_not_start() -> None:
    beside = Beside(streams.ONE_OF_FOUR, WITHIN_PRIORITY, None)
    beside.run(SERVICE_TIMES // 8)
    assert not beside.started


@by_stream
def test_stream__bound_taken_out__nobody_starts(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overtaking, "overtaken", lambda *_: None)
    beside = Beside(stream, ALWAYS, BOUND)
    beside.run(SERVICE_TIMES // 8)
    assert not beside.started


# The counts


def order(world: World, bound: int | None, assigned_first: str = WITHIN_PRIORITY) -> None:
    world.configure(order={"assigned_first": assigned_first, "most_overtaken": bound})


def overtook(world: World) -> list[int]:
    """Return the recipes that were overtaken, in log order."""
    events = (recorded.event for recorded in world.log)
    return [event.overtook for event in events if isinstance(event, RecipeScheduled) and event.overtook]


class Passing:
    """System b is in use; recipes that wait for it; and sets that hold one of c, d, e and wait for b."""

    def __init__(self, world: World, bound: int | None = 2, assigned_first: str = WITHIN_PRIORITY) -> None:
        self.world = world
        order(world, bound, assigned_first)
        world.add_idle("b", "c", "d", "e")
        self.running = occupy(world, "b")["b"]

    def waits(self, *wants: str, **new: Any) -> int:
        """Return the first recipe of a set that waits."""
        recipe_id, *_ = self.world.submit_set([named(*want) for want in wants or ("b",)], **new)
        self.world.settle()
        assert self.world.states(recipe_id) == ["queued"]
        return recipe_id

    def holds(self, fqdn: str, **new: Any) -> int:
        """Return the recipe that waits for b, of a set that holds another system."""
        _, recipe_id = self.world.submit_set([named(fqdn), named("b")], **new)
        self.world.settle()
        assert self.world.states(recipe_id) == ["assigned"]
        return recipe_id

    def next(self) -> int:
        """Free b, and return the recipe that gets it."""
        finish(self.world, self.running)
        (self.running,) = (
            each.recipe_id for each in self.world.placed() if each.system == "b" and not each.is_guest
        )
        return self.running

    def counts(self) -> dict[int, int]:
        return dict(self.world.partition.sets.overtakings.plain())

    def set_of(self, recipe_id: int) -> int:
        return self.world.recipes[recipe_id].recipe_set_id


def test_grant__to_assigned_recipe__names_first_queued_one_of_an_earlier_set(world: World) -> None:
    passing = Passing(world)
    first, _ = passing.waits(), passing.waits()
    assigned = passing.holds("c")
    assert (passing.next(), overtook(world)) == (assigned, [first])
    assert passing.counts() == {passing.set_of(first): 1}


def test_grant__queued_recipe_of_later_set_or_lower_priority__is_not_counted(world: World) -> None:
    passing = Passing(world)
    passing.waits(priority="Low")
    assigned = passing.holds("c")
    passing.waits()
    assert (passing.next(), overtook(world)) == (assigned, [])


def test_grant__later_urgent_recipe_under_always__ends_the_look(world: World) -> None:
    passing = Passing(world, assigned_first=ALWAYS)
    normal = passing.waits()
    one = passing.holds("c")
    urgent = passing.waits(priority="Urgent")
    assert (passing.next(), overtook(world)) == (one, [])
    world.cancel(urgent)
    two = passing.holds("d")
    assert (passing.next(), overtook(world)) == (two, [normal])


def test_grant__earlier_urgent_recipe_under_always__is_counted(world: World) -> None:
    passing = Passing(world, assigned_first=ALWAYS)
    normal, urgent = passing.waits(), passing.waits(priority="Urgent")
    assigned = [passing.holds(fqdn) for fqdn in "cde"]
    order_of_b = [passing.next() for _ in range(4)]
    assert order_of_b == [assigned[0], assigned[1], urgent, assigned[2]]
    # An owed recipe counts as an assigned one.
    assert overtook(world) == [urgent, urgent, normal]


def test_grant__overtaken_recipe_could_not_take_the_system_safely__next_one_is_counted(world: World) -> None:
    passing = Passing(world)
    world.add_system("x", condition="Broken")
    passing.waits("b", "x")
    safe = passing.waits()
    assigned = passing.holds("c")
    assert (passing.next(), overtook(world)) == (assigned, [safe])


def test_grant__with_guests__only_the_host_overtakes(world: World) -> None:
    passing = Passing(world)
    waits = passing.waits()
    world.submit_set([named("c"), named("b")], guests={1: [1, 1]})
    world.settle()
    passing.next()
    assert overtook(world) == [waits]


def test_grant__in_the_batch_in_which_it_was_assigned__overtakes_nobody(world: World) -> None:
    """Systems b and c come free in one batch: the set takes c first, and its other recipe ranks as queued."""
    passing = Passing(world)
    other = occupy(world, "c")["c"]
    pair = passing.waits("b", "c")
    world.complete(other)
    world.complete(passing.running)
    world.settle()
    assert world.states(pair) == ["waiting"]
    assert overtook(world) == []


def test_grant__order_always_without_bound__nothing_is_looked_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = looks_at_queue(world, monkeypatch)
    passing = Passing(world, None, ALWAYS)
    passing.waits()
    assigned = passing.holds("c")
    assert (passing.next(), overtook(world), looks) == (assigned, [], [])


def test_grants__to_sets_of_one_recipe__nothing_is_looked_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = looks_at_queue(world, monkeypatch)
    passing = Passing(world)
    for recipe_id in [passing.waits() for _ in range(3)]:
        assert passing.next() == recipe_id
    assert looks == []
    passing.waits()
    passing.holds("c")
    passing.next()
    assert looks == ["b"]


def looks_at_queue(world: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each look at the queue will add the system."""
    looks: list[str] = []
    ranked: Callable[..., Any] = world.partition.filters.ranked_recipes

    def observed(fqdn: str, line: str, **options: Any) -> Any:
        if "is_sought" in options:
            looks.append(fqdn)
        return ranked(fqdn, line, **options)

    monkeypatch.setattr(world.partition.filters, "ranked_recipes", observed)
    return looks


# The place of an owed set


@pytest.mark.parametrize("assigned_first", [WITHIN_PRIORITY, ALWAYS])
def test_owed__later_assigned_recipe__comes_behind(world: World, assigned_first: str) -> None:
    passing = Passing(world, 1, assigned_first)
    waits = passing.waits()
    one, two = passing.holds("c"), passing.holds("d")
    assert [passing.next(), passing.next(), passing.next()] == [one, waits, two]
    assert overtook(world) == [waits]


def test_owed__earlier_assigned_recipe__comes_before(world: World) -> None:
    """Show it with a set that got its first system later."""
    passing = Passing(world, 1)
    other = occupy(world, "c")["c"]
    early, _ = world.submit_set([named("b"), named("c")])
    world.settle()
    waits = passing.waits()
    late = passing.holds("d")
    world.cancel(early)
    world.settle()
    assert passing.next() == late
    earlier = passing.holds("e")
    owed = passing.set_of(waits)
    assert passing.counts() == {owed: 1}
    assert passing.next() == waits
    assert passing.next() == earlier
    finish(world, other)


def test_owed__assigned_recipe_of_higher_priority__comes_before(world: World) -> None:
    passing = Passing(world, 1)
    waits = passing.waits()
    one, high = passing.holds("c"), passing.holds("d", priority="High")
    assert [passing.next(), passing.next(), passing.next()] == [high, one, waits]


def test_owed__heavier_than_later_assigned_recipe__comes_before_all_the_same(world: World) -> None:
    """An owed set weighs nothing, also after it has got its first system."""
    passing = Passing(world, 1)
    vlan = {"network": {"Exclusive": ["vlan-12"]}}
    world.add_idle("v")
    holder = world.submit(named("v"), locks=vlan)
    runs = occupy(world, "e")["e"]
    heavy = passing.waits("b", "e", locks=vlan)
    one, two = passing.holds("c"), passing.holds("d")
    assert passing.next() == one
    world.complete(runs)
    world.settle()
    assert world.states(heavy, heavy + 1) == ["assigned", "scheduled"]
    # Its recipe is assigned now, as is that of the later set, which weighs less.
    assert passing.next() == heavy
    world.cancel(holder)
    world.settle()
    assert passing.next() == two


def test_owed__two_systems_come_free_in_one_batch__gets_both(world: World) -> None:
    """Check that the second recipe, which becomes assigned in the batch, keeps the rank of an owed one."""
    passing = Passing(world, 1)
    runs = occupy(world, "e")["e"]
    pair = passing.waits("b", "e")
    one = passing.holds("c")
    _, for_e = wanting(world, "d", "e")
    assert passing.next() == one
    world.complete(passing.running)
    world.complete(runs)
    world.settle()
    assert world.states(pair, pair + 1, for_e) == ["waiting", "waiting", "assigned"]


def test_owed__grant_to_it__counts_for_queued_recipes_of_earlier_sets(world: World) -> None:
    """Check that a stream of owed sets cannot keep an earlier set waiting."""
    passing = Passing(world, 1)
    runs = occupy(world, "e")["e"]
    earlier = passing.waits("b")
    either = passing.waits("be")
    _, for_e = wanting(world, "d", "e")
    finish(world, runs)
    assert (world.system_of(for_e), overtook(world)) == ("e", [either])
    assert passing.next() == either
    assert overtook(world) == [either, earlier]
    assert passing.next() == earlier


def test_owed__by_a_grant_of_the_same_wake_up__comes_before_on_other_systems(world: World) -> None:
    passing = Passing(world, 1)
    world.add_idle("f")
    world.put_group("qe")
    # The access class of e is not that of b.
    world.open_system("e", group("qe"), everybody())
    runs = occupy(world, "e", "f")
    either, owed = passing.waits("be"), passing.waits("bf")
    _, for_f = wanting(world, "c", "f")
    wanting(world, "d", "e")
    finish(world, runs["f"])
    assert (world.system_of(for_f), overtook(world)) == ("f", [owed])
    world.complete(passing.running)
    world.complete(runs["e"])
    world.commit([("system/b", SystemIdle()), ("system/e", SystemIdle())])
    world.partition.begin_tentative(world.now)
    grants = all_idle(world.partition, Trigger(world.position, WAKE_UP, "lab-controller/lab-1"))
    subjects = []
    while grants.next() is not None:
        subjects.append(grants.grant_next().events[0][0])
    world.partition.rollback()
    assert subjects == [f"recipe/{owed}", f"recipe/{either}"]


def test_counts__set_loses_its_systems_again__are_kept(world: World) -> None:
    passing = Passing(world, 1)
    runs = occupy(world, "c")["c"]
    waits = passing.waits("b", "c")
    one, two = passing.holds("d"), passing.holds("e")
    assert passing.next() == one
    owed = {passing.set_of(waits): 1}
    finish(world, runs)
    assert (world.states(waits), passing.counts()) == (["assigned"], owed)
    world.set_condition("c", "Broken")
    world.settle()
    assert (world.states(waits), passing.counts()) == (["queued"], owed)
    world.set_condition("c", "Automated")
    world.settle()
    assert passing.next() == waits
    assert world.states(two) == ["assigned"]


def test_counts__set_ends__are_dropped(world: World) -> None:
    passing = Passing(world)
    waits = passing.waits()
    passing.holds("c")
    passing.next()
    assert passing.counts()
    world.cancel(waits)
    assert passing.counts() == {}


@pytest.mark.parametrize("bound", [0, 1])
def test_bound__lowered_while_sets_wait__they_are_owed(world: World, bound: int) -> None:
    passing = Passing(world, 8)
    waits = passing.waits()
    one, two = passing.holds("c"), passing.holds("d")
    assert passing.next() == one
    order(world, bound)
    check_indexes(world.partition)
    assert [passing.next(), passing.next()] == [waits, two]


def test_bound__removed_while_sets_are_owed__they_are_queued_again(world: World) -> None:
    passing = Passing(world, 1)
    waits = passing.waits()
    one, two = passing.holds("c"), passing.holds("d")
    assert passing.next() == one
    order(world, None)
    check_indexes(world.partition)
    assert [passing.next(), passing.next()] == [two, waits]


# Explanations


def test_explanation__overtaken_set__has_count_and_bound(world: World) -> None:
    passing = Passing(world, 2)
    waits = passing.waits()
    passing.holds("c"), passing.holds("d")
    host = world.partition.sets.recipes[waits]
    for count in range(3):
        waiting = why_it_waits(world.partition, host, WaitingOptions(10))
        assert waiting.overtaken == Overtaken(count, 2)
        assert waiting.weight == (0.0 if count == 2 else 1.0)
        passing.next()


def test_explanation__owed_recipe_comes_before__says_why(world: World) -> None:
    passing = Passing(world, 1)
    waits = passing.waits()
    one, two = passing.holds("c"), passing.holds("d")
    assert passing.next() == one
    queued = passing.waits()
    b = world.systems["b"]
    reasons = {
        (recipe_id, other_id): why_before(
            world.partition,
            world.partition.sets.recipes[recipe_id],
            world.partition.sets.recipes[other_id],
            b,
        )
        for recipe_id, other_id in ((queued, waits), (queued, two), (two, waits))
    }
    assert reasons == {
        (queued, waits): OVERTAKEN,
        (queued, two): ITS_SET_IS_IN_LAB,
        (two, waits): OVERTAKEN,
    }
    places = [place.recipe_id for place in places_on(world.partition, b, world.now)]
    assert places == [waits, two, queued]
    for place, recipe_id in enumerate(places):
        waiting = why_it_waits(
            world.partition, world.partition.sets.recipes[recipe_id], WaitingOptions(10, "b")
        )
        assert waiting.systems[0].before == place


# One state, however it was reached

BUSY, SPARE = ("a", "b"), ("e", "f", "g")


def _submit(chance: Random, world: World) -> None:
    """Submit a set that waits for a busy system, alone or beside spare ones."""
    if len(world.in_state("queued", "assigned")) > 8:
        return
    wants = chance.choice(((BUSY[:1],), (BUSY,), ((BUSY[0],), (BUSY[1],)), (BUSY[:1], SPARE), (BUSY, SPARE)))
    locks = {"network": {"Exclusive": ["vlan-12"]}} if chance.random() < 0.3 else {}
    priority = chance.choice(("Normal", "Normal", "Normal", "High"))
    world.submit_set([named(*want) for want in wants], priority=priority, locks=locks)


def _end(chance: Random, world: World) -> None:
    if started := world.in_state("waiting"):
        world.complete(chance.choice(started).recipe_id)


def _break_or_repair(chance: Random, world: World) -> None:
    fqdn = chance.choice((*BUSY, *SPARE))
    is_broken = world.systems[fqdn].condition == "Broken"
    if is_broken or chance.random() < 0.3:
        world.set_condition(fqdn, "Automated" if is_broken else "Broken")


CROWDING: Acts = ((_submit, 4), (_end, 5), (_break_or_repair, 1))


@pytest.mark.parametrize("assigned_first", [WITHIN_PRIORITY, ALWAYS])
@pytest.mark.parametrize("bound", [0, 1, 2])
def test_history__rolled_back_restored_or_refolded__same_counts_and_decisions(
    bound: int, assigned_first: str, world: World
) -> None:
    chance = Random(bound)
    order(world, bound, assigned_first)
    world.add_idle(*BUSY, *SPARE)
    for _ in range(40):
        burst(chance, world, CROWDING)
        while decisions := world.decide(limit=3):
            check_indexes(world.partition)
            before = contents(world.partition)
            assert world.decide(limit=3) == decisions
            assert contents(world.partition) == before, "the rollback was incomplete"
            copy, refolded = restored_copy(world.partition), world.refolded()
            assert snapshot_of(copy) == snapshot_of(world.partition)
            for other in (copy, refolded):
                check_indexes(other)
                assert answers(other) == answers(world.partition)
                assert other.sets.overtakings.plain() == world.partition.sets.overtakings.plain()
                assert decide(other, 3) == decisions
            world.commit_decisions(decisions, world.position)
    counts = Counter(world.recipes[recipe_id].recipe_set_id for recipe_id in overtook(world))
    assert min(bound, 1) <= max(counts.values(), default=0) <= bound
    assert_sound(from_recorded(world.log))
