"""Nine of ten recipes start within the p90 that they were given while they waited."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from tests.domain.estimates.machine_queue import Waited, p90_of, queue_before_machines

AGES = (0.0, 600.0, 3_600.0, 14_400.0)


def share_within_p90(waits: Sequence[Waited], dice: Random, *, per_place: bool = True) -> float:
    """Return the share of given estimates that came true; cancelled recipes count until they would tell."""
    within = longer = 0
    for number in sorted(dice.sample(range(len(waits) // 5, len(waits)), 60)):
        own = waits[number]
        for age in AGES:
            left = own.ended - own.began - age
            p90 = p90_of(waits, number, age, per_place=per_place) if left >= 0 else None
            if p90 is not None and (own.is_start or left > p90):
                within += left <= p90
                longer += left > p90
    return within / (within + longer)


@pytest.mark.parametrize(
    ("load", "burst"),
    [
        (0.8, 1.0),  # the same all day
        (0.8, 6.0),  # at night more than the machines can start
        (1.1, 1.0),  # a queue that grows until people cancel
    ],
    ids=["steady", "bursts", "overloaded"],
)
def test_estimate__queue_before_machines__p90_comes_true_for_nine_of_ten(load: float, burst: float) -> None:
    shares = []
    for seed in range(3):
        dice = Random(seed)
        waits = queue_before_machines(dice, machines=20, recipes=1_500, load=load, burst=burst)
        shares.append(share_within_p90(waits, dice))
    assert 0.85 <= sum(shares) / len(shares) <= 0.95, shares
