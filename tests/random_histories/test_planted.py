"""Random histories find planted faults within bounds, by the right invariant."""

from __future__ import annotations

import pytest
from hypothesis import Phase, seed
from hypothesis.stateful import run_state_machine_as_test

from tests.in_process.environment import Environment
from tests.random_histories.bounds import bounds
from tests.random_histories.faults import FAULTS, PlantedFault
from tests.random_histories.machine import Histories

EXAMPLES = 200


# Faults that need many histories.
SLOW = ("wake-ups", "versions of systems")


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=name, marks=[pytest.mark.soak] if name in SLOW else [])
        for name, fault in FAULTS.items()
    ],
)
def test_histories__fault_planted__found(
    environment: Environment, monkeypatch: pytest.MonkeyPatch, fault: PlantedFault
) -> None:
    fault.plant(monkeypatch)
    histories = seed(fault.seed)(lambda: Histories(environment))
    # A smallest example is not needed.
    found_at_once = bounds(EXAMPLES, phases=(Phase.generate,), report_multiple_bugs=False)
    with pytest.raises(AssertionError, match=fault.found):
        run_state_machine_as_test(histories, settings=found_at_once)
