"""Holders of values are those of a dictionary of bitmaps, however many systems have a value."""

from __future__ import annotations

from random import Random

import pytest

from domain.requirements.value_holders import ValueHolders, bitmap_of

SYSTEMS, VALUES = 40, "abcdef"


@pytest.mark.parametrize("seed", range(5))
def test_holders__any_changes__are_those_of_a_dictionary(seed: int) -> None:
    chance = Random(seed)
    systems = {value: chance.sample(range(SYSTEMS), chance.randrange(1, 4)) for value in VALUES[:4]}
    holders, expected = (
        ValueHolders(systems),
        {value: bitmap_of(numbers) for value, numbers in systems.items()},
    )
    for _ in range(300):
        value, system = chance.choice(VALUES), chance.randrange(SYSTEMS)
        present = expected.get(value, 0)
        if chance.random() < 0.6 and present:
            system = chance.choice([each for each in range(SYSTEMS) if present >> each & 1])
            holders.drop(value, system)
            expected[value] = present & ~(1 << system)
            if not expected[value]:
                del expected[value]
        else:
            holders.add(value, system)
            expected[value] = present | 1 << system
        assert holders == expected and len(holders) == len(expected)
        some = [each for each in expected if chance.random() < 0.5]
        assert holders.union(some) == sum(
            {1 << n for each in some for n in range(SYSTEMS) if expected[each] >> n & 1}
        )


def test_holder__of_a_value_alone__takes_no_bitmap() -> None:
    holders = ValueHolders({f"name {number}": [number] for number in range(100_000)})
    assert max(each.bit_length() for each in holders._stored.values()) < 20
    assert holders["name 99999"] == 1 << 99_999
    holders.add("name 7", 8)
    holders.drop("name 7", 7)
    assert holders._stored["name 7"] == ~8
