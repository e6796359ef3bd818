"""Completion of holders that wait for each other, compared with trying every order."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.safety.completion import Holder, completable, impossible, stuck

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
            completable(holder, union(later.held for later in order[place:]))
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
    assert not any(completable(holder, held) for holder in remaining)


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
