"""The dry run of a weight: its documents, defaults and faults, and the plain table of the seed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.admission.weight_question import WeightQuestion, read_question, weigh
from domain.contention.documents import locks_to_json
from domain.contention.locks import LEVELS, Locks
from domain.contention.weights import WeightSettings, WeightValues
from domain.errors import FaultyInput
from tests.domain.contention.seed_table import plain_cells
from tests.domain.contention.strategies import held_locks, locks

SEED = WeightSettings()


def weighed(settings: WeightSettings = SEED, **document: Any) -> dict[str, Any]:
    return weigh(read_question(document, settings))


EXCLUSIVE = {"system": {"Exclusive": ["a"]}}
BY_HAND: list[tuple[str, dict[str, Any], float, float, tuple[float, ...]]] = [
    ("nothing", {}, 1, 1, (0, 0, 0, 0, 0)),
    ("nothing placed", {"locks": EXCLUSIVE}, 1, 1, (0, 0, 0, 0, 0)),
    (
        "name in common",
        {"locks": EXCLUSIVE, "running": [{"system": {"Shared": ["a"]}}]},
        4,
        4,
        (0, 0, 3, 0, 0),
    ),
    (
        "by Ganeti's names",
        {"locks": {"Node": "AllShared"}, "running": [{"NodeRes": "None"}]},
        1.3,
        1.3,
        (0, 0, 0.3, 0, 0),
    ),
    # AllShared beside Exclusive 3, Exclusive without a common name 0.5: the worse part counts.
    (
        "two locks at a level",
        {
            "locks": {"network": ["AllShared", {"Exclusive": ["n"]}]},
            "running": [{"network": {"Exclusive": ["m"]}}],
        },
        *(4, 4, (0, 0, 0, 0, 3)),
    ),
    # An own name is unknown before the grant.
    (
        "own name",
        {"locks": {"system": {"Exclusive": ["$system"]}}, "running": [EXCLUSIVE]},
        2.5,
        2.5,
        (0, 0, 1.5, 0, 0),
    ),
    ("whole lab", {"whole_lab": True}, 16, 16, (3, 3, 3, 3, 3)),
    ("whole lab among the locks", {"locks": {"whole_lab": True}}, 16, 16, (3, 3, 3, 3, 3)),
    (
        "whole lab placed",
        {"locks": {"guest": "UnknownShared"}, "running": [{"whole_lab": True}]},
        4,
        4,
        (0, 3, 0, 0, 0),
    ),
    (
        "base and age",
        {"whole_lab": True, "base_value": 0.25, "age_ticks": 3, "coefficient": 4},
        3.8125,
        15.25,
        (3, 3, 3, 3, 3),
    ),
    ("age below 0", {"age_ticks": -1}, 1, 1, (0, 0, 0, 0, 0)),
    ("age of K", {"age_ticks": 30}, 0, 1, (0, 0, 0, 0, 0)),
    ("age above K", {"age_ticks": 31}, 0, 1, (0, 0, 0, 0, 0)),
]


@pytest.mark.parametrize(
    ("document", "weight", "static", "cells"), [row[1:] for row in BY_HAND], ids=[row[0] for row in BY_HAND]
)
def test_weigh__computed_by_hand__is_equal(
    document: dict[str, Any], weight: float, static: float, cells: tuple[float, ...]
) -> None:
    answer = weighed(**document)
    assert (answer["weight"], answer["static_weight"]) == (weight, static)
    assert answer["cells"] == dict(zip(LEVELS, cells, strict=True))


def test_weigh__nothing_but_locks__has_base_values_and_coefficient_of_the_settings() -> None:
    settings = WeightSettings(base=2_000, values=WeightValues(sure=9_000), coefficient=10)
    answer = weighed(settings, whole_lab=True, age_ticks=5)
    assert (answer["static_weight"], answer["weight"]) == (47, 23.5)


@given(locks, held_locks, st.integers(-1, 31))
def test_weigh__any_locks__is_the_formula_of_the_seed(waiting: Locks, held: list[Locks], age: int) -> None:
    answer = weighed(
        locks=locks_to_json(waiting), running=[locks_to_json(one) for one in held], age_ticks=age
    )
    cells = plain_cells(waiting, held)
    assert answer["cells"] == dict(zip(LEVELS, map(float, cells), strict=True))
    plain = (1 + sum(cells)) * max(0, 30 - max(0, age)) / 30
    assert answer["weight"] == pytest.approx(float(plain))


def test_read_question__many_faults__names_each() -> None:
    faulty = {
        "locks": {"Node": "AllSharde", "system": "None", "pool": {"Shared": [""]}},
        "running": [{}, {"colour": "None"}, "None"],
        "whole_lab": "yes",
        "base_value": 0.0001,
        "age_ticks": 1.5,
        "coefficient": 0,
        "base": 1,
    }
    with pytest.raises(FaultyInput) as raised:
        read_question(faulty, SEED)
    assert {fault.where for fault in raised.value.faults} == {
        *("base", "locks.Node", "locks.system", "locks.pool.Shared[0]", "running[1].colour", "running[2]"),
        *("whole_lab", "base_value", "age_ticks", "coefficient"),
    }


@pytest.mark.parametrize(
    "document", [None, [], "locks", {"running": {}}, {"locks": None}, {"base_value": -1}]
)
def test_read_question__of_another_shape__is_refused(document: Any) -> None:
    with pytest.raises(FaultyInput):
        read_question(document, SEED)


def test_read_question__no_field__is_a_set_that_declares_nothing() -> None:
    assert read_question({}, SEED) == WeightQuestion(Locks(), (), 0, SEED)
