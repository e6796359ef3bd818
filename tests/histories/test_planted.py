"""The histories can fail: a planted fault is found by them, within bounds, and by the right invariant."""

from __future__ import annotations

import pytest
from hypothesis import Phase
from hypothesis.stateful import run_state_machine_as_test

from tests.histories.bounds import bounds
from tests.histories.faults import FAULTS, Plant
from tests.histories.machine import Histories
from tests.inside.bench import Bench

EXAMPLES = 200


@pytest.mark.parametrize(("plant", "invariants"), FAULTS.values(), ids=FAULTS.keys())
def test_histories__fault_planted__found(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, plant: Plant, invariants: str
) -> None:
    plant(monkeypatch)
    # Found is enough: nobody reads the smallest example.
    found_at_once = bounds(EXAMPLES, derandomize=True, phases=(Phase.generate,), report_multiple_bugs=False)
    with pytest.raises(AssertionError, match=invariants):
        run_state_machine_as_test(lambda: Histories(bench), settings=found_at_once)
