"""Seeds of the whole service: none has findings, and each gives the same result at every run."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys

import pytest

from tests.simulation.__main__ import summary
from tests.simulation.parallel_runs import run_seeds, shrunk
from tests.simulation.people.faults import FAULTS
from tests.simulation.planted import PLANTED
from tests.simulation.seed import SeedOptions, SeedOutcome, run_seed

HOURS = 3.0
# The length for thousands of seeds: each has a lab of its own, and faults are as frequent.
SHORT = 1.5
# A seed in which sets preempt others: they rarely do.
PREEMPTING = 51
SEED = "LABLEDGER_SOAK_SEED"
SEEDS = "LABLEDGER_SIMULATED_SEEDS"
PROCESSES = 2


def fail_on(outcomes: list[SeedOutcome]) -> None:
    wrong = [outcome for outcome in outcomes if outcome.findings]
    assert not wrong, "\n\n".join(map(summary, wrong[:3]))


def test_seeds__nothing_planted__nothing_wrong() -> None:
    outcomes = list(run_seeds([SeedOptions(seed, HOURS) for seed in (*range(1, 3), PREEMPTING)], PROCESSES))

    fail_on(outcomes)
    # The seeds were not idle.
    assert sum(outcome.decisions for outcome in outcomes) > 40
    assert sum(outcome.acknowledged for outcome in outcomes) > 40
    assert sum(outcome.preemptions for outcome in outcomes) > 0


@pytest.mark.soak
def test_seeds__never_seen_before__nothing_wrong() -> None:
    """The first seed is printed with the failure; each seed that fails shows the command that repeats it."""
    first = int(os.environ.get(SEED, secrets.randbelow(2**32)))
    print(f"{SEED}={first}")
    seeds = range(first, first + int(os.environ.get(SEEDS, "700")))

    fail_on(list(run_seeds([SeedOptions(seed, SHORT) for seed in seeds], PROCESSES)))


@pytest.mark.soak
def test_seed__texts_hash_otherwise__the_same_story_to_the_last_bit() -> None:
    stories = [_output(hash_seed) for hash_seed in ("1", "2")]

    assert stories[0] == stories[1]
    assert "is killed" in stories[0]
    assert "nothing is wrong" in stories[0]


def _output(hash_seed: str) -> str:
    command = [sys.executable, "-m", "tests.simulation", "--seed", "6", "--hours", "4"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_seed__run_again__the_same_database_in_the_end() -> None:
    first, again = run_seed(SeedOptions(5, 2.0)), run_seed(SeedOptions(5, 2.0))

    assert first.digest == again.digest


def test_seed__domain_reads_the_wall_clock__another_database_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    PLANTED["wall clock"].plant(monkeypatch)
    digests = {run_seed(SeedOptions(1, 3.0)).digest for _ in range(8)}

    assert len(digests) > 1


def test_summary__something_is_wrong__shows_the_command_that_repeats_it() -> None:
    options = SeedOptions(7, 2.5, frozenset({"stop"}))
    with_story = summary(SeedOutcome(options, ["a", "b", "c", "d"]))

    assert "to repeat it: python -m tests.simulation --seed 7 --hours 2.5 --without stop" in with_story
    assert "and 1 more findings" in with_story


def test_shrunk__caused_by_one_kind_of_fault__only_that_kind_is_left() -> None:
    def run(options: SeedOptions) -> SeedOutcome:
        return SeedOutcome(options, [] if "database" in options.without or options.hours < 3 else ["lost"])

    least = shrunk(run(SeedOptions(1, 12.0)), run).options

    assert least.hours == 3.0
    assert least.without == frozenset(FAULTS) - {"database"}
