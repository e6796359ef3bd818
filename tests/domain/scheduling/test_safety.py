"""Safe and unsafe states, and grants that stay safe."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.decisions import room_order
from domain.scheduling.safety.completion import Holder, impossible, is_completable, stuck
from domain.scheduling.supply.reasons import ALL_BROKEN, SET_INCOMPLETE
from replay.audit import at_rest, from_recorded
from tests.domain.scheduling.decision_reasons import reasons
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import finish, occupy, wanting
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_at_rest, assert_sound

A, B, C, D = (1 << number for number in range(4))

wants = st.lists(st.integers(0, 15), min_size=1, max_size=3)


@st.composite
def any_holders(draw: st.DrawFn) -> list[Holder]:
    """Return up to three holders with disjoint systems."""
    owners = draw(st.lists(st.integers(0, 3), min_size=4, max_size=4))
    return [
        Holder(number, held, tuple(draw(wants)))
        for number in (1, 2, 3)
        if (held := union(1 << system for system, owner in enumerate(owners) if owner == number))
    ]


def by_trying(holders: list[Holder]) -> bool:
    """Return whether some order completes all holders."""
    return any(
        all(
            is_completable(holder, union(later.held for later in order[place:]))
            for place, holder in enumerate(order)
        )
        for order in permutations(holders)
    )


@given(any_holders())
def test_stuck__any_holders__is_empty_exactly_where_some_order_completes_all(holders: list[Holder]) -> None:
    remaining = stuck(holders)
    assert (not remaining) == by_trying(holders)
    # None of the stuck holders can be completed first.
    held = union(holder.held for holder in remaining)
    assert not any(is_completable(holder, held) for holder in remaining)


@given(any_holders(), st.randoms())
def test_stuck__holders_in_another_order__same_result(holders: list[Holder], chance) -> None:  # type: ignore[no-untyped-def]
    shuffled = chance.sample(holders, len(holders))
    assert {each.recipe_set_id for each in stuck(holders)} == {each.recipe_set_id for each in stuck(shuffled)}


def test_stuck__each_holds_a_system_that_the_other_wants__both() -> None:
    one, other = Holder(1, A, (B,)), Holder(2, B, (A,))
    assert stuck([one, other]) == [one, other]


def test_stuck__one_has_an_alternative__none() -> None:
    assert stuck([Holder(1, A, (B,)), Holder(2, B, (A | C,))]) == []


def test_stuck__two_stuck_and_one_completable__only_the_two() -> None:
    one, other, third = Holder(1, A, (B,)), Holder(2, B, (A,)), Holder(3, C, (D,))
    assert stuck([third, one, other]) == [one, other]


def test_impossible__wants_a_missing_system__only_this_holder() -> None:
    hopeless, behind = Holder(1, A, (0,)), Holder(2, B, (A,))
    assert impossible([hopeless, behind]) == [hopeless]


def test_impossible__wants_only_its_own_system__impossible() -> None:
    # The system of one recipe cannot serve its sibling, too.
    holder = Holder(1, A, (A,))
    assert impossible([holder]) == [holder]


def the_smallest_case(world: World) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, int]]:
    """Make two sets: R1 = {a},{b} holds b; R2 = {c},{a},{b} holds c and ranks first; a is busy."""
    world.add_idle("a", "b", "c")
    runs = occupy(world, "a", "b", "c")
    finish(world, runs["c"], runs["b"])
    r1 = wanting(world, "a", "b")
    r2 = wanting(world, "c", "a", "b", priority="High")
    assert world.states(*r1, *r2) == ["assigned", "scheduled", "scheduled", "assigned", "assigned"]
    return r1, r2, runs


def test_grant__first_in_rank_would_wait_for_ever__is_passed_over(world: World) -> None:
    r1, r2, runs = the_smallest_case(world)
    finish(world, runs["a"])
    # R2 ranks first, but with a it would wait for b, and R1, which has b, for a.
    assert world.states(*r1) == ["waiting", "waiting"]
    assert world.system_of(r2[1]) is None
    finish(world, *r1)
    assert world.states(*r2) == ["waiting"] * 3
    assert_sound(from_recorded(world.log))
    assert_at_rest(from_recorded(world.log))


def test_grant__without_the_safety_rule__the_smallest_case_waits_for_ever(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Shows that the case above needs the rule.
    monkeypatch.setattr(room_order, "is_safe", lambda *_: True)
    _, r2, runs = the_smallest_case(world)
    finish(world, runs["a"])
    assert world.system_of(r2[1]) == "a"
    assert {violation.invariant for violation in at_rest(from_recorded(world.log))} >= {"no_holder_stuck"}


def test_grant__rest_of_the_set_unavailable__not_made(world: World) -> None:
    # The set would hold a until b is repaired.
    world.add_idle("a", "b")
    world.set_condition("b", "Broken")
    first, second = world.submit_set([named("a"), named("b")])
    (decision,) = world.settle()
    assert reasons([decision]) == {f"recipe/{first}": SET_INCOMPLETE, f"recipe/{second}": ALL_BROKEN}
    assert world.systems["a"].usage == "idle"


def test_grant__system_is_needed_by_a_sibling__passed_over(world: World) -> None:
    world.add_idle("a", "b")
    runs = occupy(world, "a", "b")
    either, only_a = wanting(world, "ab", "a")
    finish(world, runs["a"])
    assert (world.states(either), world.system_of(only_a)) == (["assigned"], "a")


def decide_one(world: World) -> None:
    """Answer one trigger."""
    world.commit_decisions(world.decide(limit=1), world.position)


def stuck_holder(world: World) -> tuple[int, ...]:
    """Make a set that holds a and waits for x, and break x: the state is unsafe until the set lets go."""
    world.add_idle("a", "b", "c", "x")
    occupy(world, "x")
    return wanting(world, "a", "x")


def begin_batch(world: World) -> None:
    """Submit the first set of a batch, which gets nothing. A later let-go waits for the rest of it."""
    world.submit(named("x"), priority="Urgent")


@pytest.mark.parametrize("wants", [["b"], ["b", "c"]])
def test_new_set__can_start_at_once_beside_an_unsafe_holder__needs_no_check(
    world: World, wants: list[str]
) -> None:
    holder = stuck_holder(world)
    begin_batch(world)
    ids = world.submit_set([named(want) for want in wants])
    decide_one(world)
    world.set_condition("x", "Broken")
    decide_one(world)
    # The stuck holder has not let go yet.
    assert world.states(*holder) == ["scheduled", "assigned"]
    assert set(world.states(*ids)) == {"waiting"}


@pytest.mark.parametrize("wants", [["b"], ["c", "b"]])
def test_pending_system__completes_a_set_beside_an_unsafe_holder__needs_no_check(
    world: World, wants: list[str]
) -> None:
    holder = stuck_holder(world)
    runs = occupy(world, "b")
    ids = wanting(world, *wants)
    world.add_system("z")
    world.complete(runs["b"])
    decide_one(world)
    world.set_condition("x", "Broken")
    decide_one(world)
    assert world.states(*holder) == ["scheduled", "assigned"]
    assert set(world.states(*ids)) == {"waiting"}


def test_new_set__another_holder_is_stuck__does_not_begin(world: World) -> None:
    world.add_idle("a", "b", "c", "x")
    runs = occupy(world, "c", "x")
    wanting(world, "a", "x")
    begin_batch(world)
    first, second = world.submit_set([named("b"), named("c")])
    decide_one(world)
    world.set_condition("x", "Broken")
    decide_one(world)
    assert world.states(first, second) == ["queued", "queued"]
    # After the let-go, the set may begin.
    world.settle()
    assert world.states(first, second) == ["scheduled", "assigned"]
    finish(world, runs["c"])
    assert world.states(first, second) == ["waiting", "waiting"]
