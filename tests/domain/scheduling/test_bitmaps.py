"""Bitmaps and bit-sliced numbers, compared with sets and dictionaries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.bitsets.bitmaps import lowest, nth, numbers_in, transposed, union

members = st.sets(st.integers(0, 300))
some = st.sets(st.integers(0, 300), min_size=1)


def bitmap(numbers: set[int]) -> int:
    return sum(1 << number for number in numbers)


@given(members)
def test_numbers_in__any_set__are_its_members_ascending(numbers: set[int]) -> None:
    assert list(numbers_in(bitmap(numbers))) == sorted(numbers)


@given(some)
def test_lowest_and_nth__any_set__are_those_of_the_sorted_list(numbers: set[int]) -> None:
    ascending = sorted(numbers)
    assert lowest(bitmap(numbers)) == ascending[0]
    assert [nth(bitmap(numbers), index) for index in range(len(ascending))] == ascending


@given(st.lists(members))
def test_union__any_sets__has_the_members_of_all(sets: list[set[int]]) -> None:
    assert set(numbers_in(union(map(bitmap, sets)))) == set().union(*sets)


@given(st.dictionaries(st.integers(0, 200), members))
def test_transposed__any_rows__has_the_rows_of_each_number(rows: dict[int, set[int]]) -> None:
    found = transposed({row: bitmap(numbers) for row, numbers in rows.items()})
    assert {number: set(numbers_in(those)) for number, those in found.items()} == {
        number: {row for row, numbers in rows.items() if number in numbers}
        for number in set[int]().union(*rows.values())
    }


small = st.sets(st.integers(0, 9))
changes = st.sampled_from(["add", "subtract", "put", "change"])
steps = st.lists(st.tuples(changes, small, st.integers(0, 1_000)))


@given(steps, small)
def test_bit_sliced__any_changes__equal_a_dictionary(
    made: list[tuple[str, set[int], int]], among: set[int]
) -> None:
    planes, values = BitSlicedNumbers(), dict.fromkeys(range(10), 0)
    for change, numbers, amount in made:
        if change in ("put", "change"):
            for number in numbers:
                before = (values[number],) if change == "change" else ()
                getattr(planes, change)(number, *before, amount)
                values[number] = amount
            continue
        # No number becomes negative.
        least = amount if change == "add" else min([amount, *(values[number] for number in numbers)])
        getattr(planes, change)(bitmap(numbers), least)
        for number in numbers:
            values[number] += least if change == "add" else -least
    assert {number: planes.value(number) for number in values} == values
    smallest = min((values[number] for number in among), default=0)
    assert set(numbers_in(planes.least(bitmap(among)))) == {n for n in among if values[n] == smallest}


amounts = st.dictionaries(st.integers(0, 9), st.integers(0, 1_000))


@given(amounts, amounts, small)
def test_bit_sliced__others_added_and_subtracted__equal_sums(
    values: dict[int, int], more: dict[int, int], among: set[int]
) -> None:
    planes = BitSlicedNumbers(values)
    planes.add_each(BitSlicedNumbers(more))
    assert planes.total(bitmap(among)) == sum(values.get(n, 0) + more.get(n, 0) for n in among)
    planes.subtract_each(BitSlicedNumbers(more))
    assert {number: planes.value(number) for number in range(10)} == {n: values.get(n, 0) for n in range(10)}
