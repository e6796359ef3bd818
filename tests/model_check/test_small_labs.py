"""All orders of events in small labs, and samples of larger labs."""

from __future__ import annotations

import os

import pytest

from tests.model_check.explore import Exploration
from tests.model_check.families import FAMILIES
from tests.model_check.parallel import explore_one, run_parallel, walk_one
from tests.model_check.sizes import LONG, LONG_WALKS, SAMPLES, SEED, WALKS


def _explored(name: str, sample: int | None, processes: int) -> Exploration:
    together = Exploration()
    tasks = FAMILIES[name].sample(10**9 if sample is None else sample, SEED)
    for found, text in run_parallel(explore_one, tasks, processes):
        assert text is None, text
        together.add(found)
    print(f"{name}: {together.labs} labs, {together.states} states, {together.steps} steps, seed {SEED}")
    return together


@pytest.mark.parametrize(("name", "sample"), SAMPLES.items())
def test_small_labs__every_order__no_violation(name: str, sample: int | None) -> None:
    assert _explored(name, sample, processes=1).states > 0


def test_larger_labs__random_histories__no_violation() -> None:
    for _, text in run_parallel(walk_one, range(SEED, SEED + WALKS), processes=1):
        assert text is None, text


@pytest.mark.soak
@pytest.mark.parametrize(("name", "sample"), LONG.items())
def test_all_small_labs__every_order__no_violation(name: str, sample: int | None) -> None:
    assert _explored(name, sample, processes=os.cpu_count() or 1).states > 0


@pytest.mark.soak
def test_many_larger_labs__random_histories__no_violation() -> None:
    seeds = range(10_000, 10_000 + LONG_WALKS)
    for _, text in run_parallel(walk_one, seeds, processes=os.cpu_count() or 1):
        assert text is None, text
