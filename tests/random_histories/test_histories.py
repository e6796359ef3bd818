"""Random histories on the real store leave a log without violations."""

from __future__ import annotations

import os
import secrets

import pytest
from hypothesis import seed
from hypothesis.stateful import run_state_machine_as_test

from tests.in_process.environment import Environment
from tests.random_histories.bounds import bounds
from tests.random_histories.machine import Histories

SEED = "LABLEDGER_SOAK_SEED"
EXAMPLES = "LABLEDGER_SOAK_EXAMPLES"


def test_log__after_random_histories__nothing_wrong(environment: Environment) -> None:
    run_state_machine_as_test(lambda: Histories(environment), settings=bounds(10, derandomize=True))


@pytest.mark.soak
def test_log__after_many_long_random_histories__nothing_wrong(environment: Environment) -> None:
    """Run a soak; a failure shows the seed that repeats it."""
    number = int(os.environ.get(SEED, secrets.randbelow(2**32)))
    print(f"{SEED}={number}")
    histories = seed(number)(lambda: Histories(environment))
    run_state_machine_as_test(histories, settings=bounds(int(os.environ.get(EXAMPLES, "100")), steps=80))
