"""Small labs, in every order of what can happen there; of larger ones a sample."""

from __future__ import annotations

import os

import pytest

from tests.model_check.explore import Found
from tests.model_check.families import FAMILIES
from tests.model_check.parallel import explore_one, spread, walk_one
from tests.model_check.sizes import LONG, LONG_WALKS, SAMPLES, SEED, WALKS


def _gone_through(name: str, sample: int | None, processes: int) -> Found:
    together = Found()
    tasks = FAMILIES[name].sample(10**9 if sample is None else sample, SEED)
    for found, told in spread(explore_one, tasks, processes):
        assert told is None, told
        together.add(found)
    print(f"{name}: {together.labs} labs, {together.states} states, {together.steps} steps, seed {SEED}")
    return together


@pytest.mark.parametrize(("name", "sample"), SAMPLES.items())
def test_small_labs__every_order__nobody_stuck_overlooked_jumped_or_double_booked(
    name: str, sample: int | None
) -> None:
    assert _gone_through(name, sample, processes=1).states > 0


def test_larger_labs__random_histories__nobody_stuck_overlooked_jumped_or_double_booked() -> None:
    for _, told in spread(walk_one, range(SEED, SEED + WALKS), processes=1):
        assert told is None, told


@pytest.mark.soak
@pytest.mark.parametrize(("name", "sample"), LONG.items())
def test_all_small_labs__every_order__nobody_stuck_overlooked_jumped_or_double_booked(
    name: str, sample: int | None
) -> None:
    assert _gone_through(name, sample, processes=os.cpu_count() or 1).states > 0


@pytest.mark.soak
def test_many_larger_labs__random_histories__nobody_stuck_overlooked_jumped_or_double_booked() -> None:
    seeds = range(10_000, 10_000 + LONG_WALKS)
    for _, told in spread(walk_one, seeds, processes=os.cpu_count() or 1):
        assert told is None, told
