"""Matchings of recipes and systems, compared with trying every assignment."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.safety import matching
from domain.scheduling.safety.matching import Matching, match

SYSTEMS = 5


def by_trying(wants: list[int]) -> bool:
    choices = permutations(range(SYSTEMS), len(wants))
    return any(all(want >> n & 1 for want, n in zip(wants, choice, strict=True)) for choice in choices)


@given(st.lists(st.integers(0, 2**SYSTEMS - 1), max_size=SYSTEMS + 1))
def test_match__any_wants__finds_one_exactly_where_trying_all_finds_one(wants: list[int]) -> None:
    matched = match(wants)
    assert (matched is not None) == by_trying(wants)
    if matched is not None:
        assert len(set(matched)) == len(wants)
        assert all(number in numbers_in(want) for want, number in zip(wants, matched, strict=True))


@settings(deadline=None)
@given(st.lists(st.integers(1, 2**SYSTEMS - 1), min_size=1, max_size=SYSTEMS), st.data())
def test_can_have__some_fixed__equals_new_matching_of_the_rest(wants: list[int], data: st.DataObject) -> None:
    matching = Matching(wants)
    if not matching.complete():
        return
    left = data.draw(st.permutations(range(len(wants))))
    taken = 0
    while left:
        index = left.pop()
        asked = data.draw(st.permutations(list(numbers_in(wants[index] & ~taken))))
        possible = [
            number for number in asked if by_trying([wants[other] & ~(taken | 1 << number) for other in left])
        ]
        assert [number for number in asked if matching.can_have(index, number)] == possible
        matching.fix(index, possible[0])
        taken |= 1 << possible[0]
    assert sum(1 << number for number in matching.numbers) == taken


def test_match__first_choices_collide__one_moves() -> None:
    # A greedy choice would leave no system for the last recipe.
    assert match([0b011, 0b110, 0b001]) == [1, 2, 0]


def test_match__enough_systems_but_all_for_the_same_two__finds_none() -> None:
    # Counting is not enough: three recipes and three wanted systems.
    assert match([0b111, 0b001, 0b001]) is None


def test_match__no_wants__empty_matching() -> None:
    assert match([]) == []


FLEXIBLE, TIGHT = (1 << 10_000) - 1, (1 << 100) - 1


@pytest.mark.parametrize(
    "wants",
    [
        [FLEXIBLE] * 100 + [TIGHT] * 100,
        [FLEXIBLE] * 100 + [1 << number for number in range(100)],
        # One system too few.
        [FLEXIBLE] * 100 + [TIGHT >> 1] * 100,
        # The last recipe makes every other recipe move.
        [0b11 << number for number in range(199)] + [1],
    ],
)
def test_match__flexible_recipes_before_tight_ones__looks_at_each_a_few_times(
    wants: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0

    def counted(bitmap: int) -> object:
        nonlocal looked
        looked += 1
        return numbers_in(bitmap)

    monkeypatch.setattr(matching, "numbers_in", counted)
    match(wants)
    assert looked <= 2 * len(wants)
