"""A planted fault is found within the seeds named for it, by the check for it."""

from __future__ import annotations

import re

import pytest

from tests.simulation.planted import PLANTED, Planted
from tests.simulation.seed import SeedOptions, run_seed

HOURS = 6.0


# Faults that need many seeds, or long ones.
SLOW = ("versions", "command ids", "wake-ups", "safety", "loans", "effective priorities")


@pytest.mark.parametrize(
    "planted",
    [
        pytest.param(planted, id=name, marks=[pytest.mark.soak] if name in SLOW else [])
        for name, planted in PLANTED.items()
    ],
)
def test_seeds__fault_planted__found(monkeypatch: pytest.MonkeyPatch, planted: Planted) -> None:
    planted.plant(monkeypatch)
    for seed in range(planted.first, planted.first + planted.seeds):
        outcome = run_seed(SeedOptions(seed, HOURS))
        if outcome.findings:
            break

    assert re.search(planted.found, "\n".join(outcome.findings)), outcome.findings[:1]
