"""The 49 cells of the table, against the text of the seed."""

from __future__ import annotations

from decimal import Decimal

import pytest

from domain.contention.cells import CELLS, KINDS, VALUES, WORST, cell, parts
from domain.contention.locks import ALL, UNKNOWN, LevelLock
from domain.contention.weights import WeightSettings
from tests.domain.contention.model import NORMAL
from tests.domain.contention.seed_table import SEED_KINDS, TEXTS, lock_of, seed_cell

PAIRS = [(waiting, held) for waiting in SEED_KINDS for held in SEED_KINDS]
NAMES = [
    # Names of the waiting and the held lock, and whether they have one in common.
    (("a",), ("a",), True),
    (("a",), ("b",), False),
    (("a", "b"), ("b", "c"), True),
    (("a", "b"), ("c", "d"), False),
    (("a",), ("a", "b", "c"), True),
]


def number(found: int) -> Decimal:
    return Decimal(WeightSettings().values[found]) / 1000


def test_table__of_the_seed__has_49_cells() -> None:
    assert len(TEXTS) == 49
    assert list(KINDS) == SEED_KINDS
    assert set(TEXTS.values()) == {
        *("0", "0.3", "0.5", "1.5", "3", "if j=i then 3 else 0.3", "if j=i then 3 else 0.5")
    }


@pytest.mark.parametrize(("waiting", "held"), PAIRS)
def test_cell__of_two_kinds__is_that_of_the_seed(waiting: str, held: str) -> None:
    for names, held_names, is_meeting in NAMES:
        found = cell(lock_of(waiting, *names), lock_of(held, *held_names))
        assert number(found) == seed_cell(waiting, held, is_meeting)


def test_values__by_default__are_those_of_the_seed() -> None:
    by_name = {name: number(found) for found, name in enumerate(VALUES)}
    assert by_name == {
        "none": Decimal(0),
        "degrade": Decimal("0.3"),
        "heavy_degrade": Decimal("0.5"),
        "maybe": Decimal("1.5"),
        "sure": Decimal(3),
    }


def test_cells__for_a_common_name__are_never_better_and_the_worst_where_they_differ() -> None:
    # The sums of held locks depend on it.
    differing = [found for row in CELLS for found in row if found.meeting != found.apart]
    assert len(differing) == 3
    assert {found.meeting for found in differing} == {WORST}


def test_cell__of_two_parts__is_the_worse_one() -> None:
    both = LevelLock(ALL, ("a",))
    # Shared beside each part: none beside AllShared, sure beside a held name, degrade beside another.
    assert VALUES[cell(LevelLock(("a",)), both)] == "sure"
    assert VALUES[cell(LevelLock(("b",)), both)] == "degrade"
    # Each part beside None: degrade for AllShared, heavy_degrade for Exclusive.
    assert VALUES[cell(both, LevelLock())] == "heavy_degrade"
    # Each part beside UnknownShared: degrade for AllShared, maybe for Exclusive.
    assert VALUES[cell(both, LevelLock(UNKNOWN))] == "maybe"
    assert VALUES[cell(both, both)] == "sure"


def test_cell__of_all_pairs_with_two_parts__is_the_worst_over_their_parts() -> None:
    for waiting in NORMAL:
        for held in NORMAL:
            assert cell(waiting, held) == max(
                cell(one, other) for one in single(waiting) for other in single(held)
            )


def single(lock: LevelLock) -> list[LevelLock]:
    """Return the locks with one part each that a lock consists of."""
    return [
        one for one in (LevelLock(shared=lock.shared), LevelLock(exclusive=lock.exclusive)) if any(one)
    ] or [LevelLock()]


def test_parts__of_every_kind__have_its_number_and_names() -> None:
    for number_, kind in enumerate(KINDS):
        ((found, part),) = parts(lock_of(kind, "a"))
        assert found == number_
        assert isinstance(part, str) or part == (("a",) if kind in ("Shared", "Exclusive") else ())
