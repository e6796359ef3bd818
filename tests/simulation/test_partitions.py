"""Seeds of two partitions: both work, labs move, and one of the schedulers that are cut off writes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from domain.partition_numbers import DEFAULT_NUMBER
from tests.simulation.machine.strands import current
from tests.simulation.people.faults import FaultInjector
from tests.simulation.people.seed_scene import OTHER
from tests.simulation.seed import SeedOptions, run

# Seeds of two partitions.
SEEDS = (8, 16)
CUT_OFF_SECONDS = 400.0


def test_seeds__two_partitions__both_grant_labs_and_states_change_and_schedulers_are_replaced() -> None:
    topics, epochs = Counter[str](), Counter[str]()
    for number in SEEDS:
        seed = run(SeedOptions(number, 3.0))
        assert not seed.findings
        log = seed.commit_checks.log
        topics += Counter(recorded.event.TOPIC for recorded in log)
        epochs += Counter({name: count - 1 for name, count in seed.server.log.epochs.items()})
        granting = {each.partition for each in log if each.event.TOPIC == "recipe.scheduled"}
        assert granting == {DEFAULT_NUMBER, OTHER.number}

    # The first move of each is the beginning of the partition.
    assert topics["lab-controller.partition-changed"] > len(SEEDS)
    assert topics["partition.state-changed"] > 1
    # Each partition had a second scheduler.
    assert len(epochs) == 2


def test_two_schedulers__cut_off_in_turn__one_writes_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both reach nothing but the database, so that one which is cut off from it is cut off from the other."""
    monkeypatch.setattr(FaultInjector, "run", _cut_off_in_turn)
    seed = run(SeedOptions(SEEDS[0], 3.0))

    assert not seed.findings
    of_other = {epoch: name for (partition, epoch), name in seed.commit_checks.writers.items()
                if partition == OTHER.number}  # fmt: skip
    assert set(of_other.values()) == {f"scheduler-{OTHER.name}-{number}" for number in (1, 2)}
    assert list(of_other) == sorted(of_other)
    assert len(of_other) > 2


def _cut_off_in_turn(self: FaultInjector, *_: Any) -> None:
    number = 1
    while not self.over:
        name, number = f"scheduler-{OTHER.name}-{number}", 3 - number
        self._server.cut(name)
        current().wait(CUT_OFF_SECONDS)
        self._server.cut_off.discard(name)
