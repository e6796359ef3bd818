"""Who can still be completed, whoever waits for whom: against trying every order of the holders."""

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
    """Up to three holders, no two of which hold the same system."""
    owners = draw(st.lists(st.integers(0, 3), min_size=4, max_size=4))
    return [
        Holder(number, held, tuple(draw(wants)))
        for number in (1, 2, 3)
        if (held := union(1 << system for system, owner in enumerate(owners) if owner == number))
    ]


def by_trying(holders: list[Holder]) -> bool:
    """Whether there is an order in which all of them can be completed."""
    return any(
        all(
            completable(holder, union(later.held for later in order[place:]))
            for place, holder in enumerate(order)
        )
        for order in permutations(holders)
    )


@given(any_holders())
def test_stuck__any_holders__is_empty_exactly_where_some_order_completes_all(holders: list[Holder]) -> None:
    left = stuck(holders)
    assert (not left) == by_trying(holders)
    # Nobody of those left over can be the first of them.
    held = union(holder.held for holder in left)
    assert not any(completable(holder, held) for holder in left)


@given(any_holders(), st.randoms())
def test_stuck__same_holders_in_another_order__leaves_the_same_over(holders: list[Holder], chance) -> None:  # type: ignore[no-untyped-def]
    shuffled = chance.sample(holders, len(holders))
    assert {each.recipe_set_id for each in stuck(holders)} == {each.recipe_set_id for each in stuck(shuffled)}


def test_stuck__each_holds_what_the_other_wants__are_both_left_over() -> None:
    one, other = Holder(1, A, (B,)), Holder(2, B, (A,))
    assert stuck([one, other]) == [one, other]


def test_stuck__one_of_them_has_another_way__none_is_left_over() -> None:
    assert stuck([Holder(1, A, (B,)), Holder(2, B, (A | C,))]) == []


def test_stuck__beside_two_that_are__a_third_that_could_be_completed_is_not_left_over() -> None:
    one, other, third = Holder(1, A, (B,)), Holder(2, B, (A,)), Holder(3, C, (D,))
    assert stuck([third, one, other]) == [one, other]


def test_impossible__wants_what_is_there_no_more__is_named_but_not_who_waits_for_it() -> None:
    hopeless, behind = Holder(1, A, (0,)), Holder(2, B, (A,))
    assert impossible([hopeless, behind]) == [hopeless]


def test_impossible__wants_a_second_of_what_it_holds_itself__is_named() -> None:
    # Its own system cannot serve another of its recipes as well.
    holder = Holder(1, A, (A,))
    assert impossible([holder]) == [holder]
