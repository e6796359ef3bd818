"""A planted fault is found within few seeds, by the check for it."""

from __future__ import annotations

import re

import pytest

from tests.simulation.planted import PLANTED, Planted
from tests.simulation.seed import SeedOptions, run_seed

HOURS = 6.0


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED.keys())
def test_seeds__fault_planted__found(monkeypatch: pytest.MonkeyPatch, planted: Planted) -> None:
    planted.plant(monkeypatch)
    for seed in range(planted.first, planted.first + planted.seeds):
        outcome = run_seed(SeedOptions(seed, HOURS))
        if outcome.findings:
            break

    assert re.search(planted.found, "\n".join(outcome.findings)), outcome.findings[:1]
