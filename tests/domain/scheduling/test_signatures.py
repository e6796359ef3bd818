"""Signatures are those of all evaluated filters, whatever happened between two questions."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest

from domain.scheduling.bitsets.bitmaps import BYTE, interleaved, lowest
from domain.scheduling.demand import signatures
from domain.scheduling.demand.signatures import Signatures

SYSTEMS, FILTERS = 200, 150


@dataclass
class Filter:
    fitting: int | None


@pytest.mark.parametrize("seed", range(8))
def test_of__any_system_after_any_changes__has_the_filters_that_it_fits(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With the first seeds, changed systems have their bytes set; with later ones, lanes are computed anew.
    monkeypatch.setattr(signatures, "_SYSTEMS_A_CHANGE", seed * 20)
    chance = Random(seed)
    filters: dict[int, Filter] = {}
    found = Signatures(filters.get)
    for _ in range(600):
        number = chance.randrange(FILTERS)
        act = chance.random()
        if act < 0.5:
            filters[number] = Filter(chance.getrandbits(SYSTEMS) & chance.getrandbits(SYSTEMS))
            found.invalidate(number)
        elif act < 0.6:
            found.invalidate(number)
            filters.pop(number, None)
        elif act < 0.7:
            found.invalidate(number)
            if number in filters:
                filters[number].fitting = None
        elif act < 0.8:
            change_systems(found, filters, chance)
        else:
            for system in chance.sample(range(SYSTEMS), 5):
                assert found.of(system) == expected(filters, system)
    every = (1 << SYSTEMS) - 1
    assert dict(found.each(every)) == {system: expected(filters, system) for system in range(SYSTEMS)}


@pytest.mark.parametrize("size", [1, 2, 7])
def test_interleaved__any_rows__each_bit_is_in_its_place(size: int) -> None:
    chance = Random(size)
    rows = [chance.getrandbits(BYTE * size) for _ in range(BYTE)]
    planes = interleaved(rows, size)
    for plane in range(BYTE):
        for row in range(BYTE):
            of_row = [rows[row] >> BYTE * place + plane & 1 for place in range(size)]
            assert [planes[plane] >> BYTE * place + row & 1 for place in range(size)] == of_row


def change_systems(found: Signatures, filters: dict[int, Filter], chance: Random) -> None:
    """Re-evaluate some filters for a few systems."""
    systems = sum(1 << system for system in chance.sample(range(SYSTEMS), 3))
    before = lowest(systems)
    changed = {
        number: chance.getrandbits(SYSTEMS) & systems
        for number, entry in filters.items()
        if entry.fitting is not None and chance.random() < 0.5
    }
    for number, fitting in changed.items():
        filters[number].fitting = (filters[number].fitting or 0) & ~systems | fitting
    viable = {number: fitting >> before for number, fitting in changed.items()}
    found.replace(systems, sum(1 << number for number in changed), viable, before)


def expected(filters: dict[int, Filter], system: int) -> int:
    return sum(1 << number for number, entry in filters.items() if (entry.fitting or 0) >> system & 1)


def test_lane__of_an_unchanged_filter__is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    filters = {number: Filter(1 << number) for number in range(3 * BYTE)}
    found = Signatures(filters.get)
    asked = []
    monkeypatch.setattr(found, "_fitting", lambda number: asked.append(number) or filters[number].fitting)
    for number in filters:
        found.invalidate(number)
    for system in range(SYSTEMS):
        assert found.of(system) == expected(filters, system)
    filters[BYTE] = Filter(1)
    found.invalidate(BYTE)
    first = len(asked)
    assert found.of(0) == 1 | 1 << BYTE and found.of(BYTE) == 0
    assert asked[first:] == [*range(BYTE, 2 * BYTE)]
