"""The product-limit estimate on waits from given distributions."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.estimates.product_limit import Observation, ProductLimit, TimeLeft

MEAN, SCALE, SHAPE = 600.0, 600.0, 1.7
RECIPES = 20_000


def time_left(observations: list[Observation], waited: float) -> TimeLeft:
    return ProductLimit(observations).time_left(waited)


def exponential_quantile(share: float) -> float:
    return -MEAN * log(1 - share)


def weibull_quantile(share: float) -> float:
    return float(SCALE * (-log(1 - share)) ** (1 / SHAPE))


DISTRIBUTIONS = pytest.mark.parametrize(
    ("draw", "quantile"),
    [
        (lambda dice: dice.expovariate(1 / MEAN), exponential_quantile),
        (lambda dice: dice.weibullvariate(SCALE, SHAPE), weibull_quantile),
    ],
    ids=["exponential", "weibull"],
)
Draw = Callable[[Random], float]
Quantile = Callable[[float], float]


def seen_until(wait: float, end: float, begin: float = 0.0) -> Observation:
    """Return the observation of a wait that is censored at `end`."""
    return Observation(begin, min(wait, end), wait <= end)


@DISTRIBUTIONS
def test_time_left__all_waits_observed__has_the_quantiles_of_the_distribution(
    draw: Draw, quantile: Quantile
) -> None:
    dice = Random(1)
    left = time_left([Observation(0.0, draw(dice), True) for _ in range(RECIPES)], 0.0)
    assert left.p50 == pytest.approx(quantile(0.5), rel=0.04)
    assert left.p90 == pytest.approx(quantile(0.9), rel=0.04)


@DISTRIBUTIONS
def test_time_left__waits_censored_at_random__has_the_quantiles_of_the_distribution(
    draw: Draw, quantile: Quantile
) -> None:
    dice = Random(2)
    observed = [seen_until(draw(dice), dice.uniform(0, 1.5 * quantile(0.9))) for _ in range(RECIPES)]
    left = time_left(observed, 0.0)
    assert left.p50 == pytest.approx(quantile(0.5), rel=0.05)
    assert left.p90 == pytest.approx(quantile(0.9), rel=0.05)
    # Without the censored waits, or with each as if it had started then, long waits would be missing.
    for wrong in (
        [each for each in observed if each.started],
        [each._replace(started=True) for each in observed],
    ):
        shorter = time_left(wrong, 0.0).p90
        assert shorter is not None and shorter < 0.85 * quantile(0.9)


@DISTRIBUTIONS
def test_time_left__waits_observed_from_late_on__has_the_quantiles_of_the_distribution(
    draw: Draw, quantile: Quantile
) -> None:
    dice = Random(3)
    waits = [(draw(dice), dice.uniform(-MEAN, MEAN)) for _ in range(2 * RECIPES)]
    observed = [Observation(max(begin, 0.0), wait, True) for wait, begin in waits if wait > begin]
    left = time_left(observed, 0.0)
    assert left.p50 == pytest.approx(quantile(0.5), rel=0.05)
    assert left.p90 == pytest.approx(quantile(0.9), rel=0.05)


@DISTRIBUTIONS
def test_time_left__after_a_wait__is_conditional(draw: Draw, quantile: Quantile) -> None:
    dice, waited = Random(4), 400.0
    longer = sorted(wait for wait in (draw(dice) for _ in range(RECIPES)) if wait > waited)
    left = time_left(
        [Observation(0.0, wait, True) for wait in longer] + [Observation(0.0, 300.0, True)] * 50, waited
    )
    assert left.p50 == pytest.approx(longer[len(longer) // 2] - waited, rel=0.01)
    assert left.p90 == pytest.approx(longer[len(longer) * 9 // 10] - waited, rel=0.01)


@given(st.lists(st.floats(0.1, 1e6), unique=True, max_size=60))
def test_time_left__few_waits__is_the_wait_below_which_a_further_one_falls(waits: list[float]) -> None:
    waits.sort()
    left = time_left([Observation(0.0, wait, True) for wait in waits], 0.0)
    for share, found in ((0.5, left.p50), (0.9, left.p90)):
        place = ceil(share * (len(waits) + 1) - 1e-9)
        assert found == (waits[place - 1] if place <= len(waits) else None)


def test_time_left__too_many_censored__is_unknown_but_more_than_the_longest() -> None:
    waiting = [Observation(0.0, 500.0, False, recipes=40)]
    started = [Observation(0.0, 100.0, True)] * 10
    assert time_left(started + waiting, 20.0) == TimeLeft(None, None, 480.0)
    assert time_left(started, 20.0) == TimeLeft(80.0, 80.0, 80.0)


def test_time_left__no_waits__is_unknown() -> None:
    assert time_left([], 0.0) == time_left([Observation(0.0, 5.0, True)], 7.0) == TimeLeft(None, None, 0.0)


def test_time_left__counted_recipes__equal_as_many_single_ones() -> None:
    dice = Random(5)
    observed = [
        Observation(0.0, round(dice.expovariate(0.01)), dice.random() < 0.7, dice.randint(1, 4))
        for _ in range(200)
    ]
    single = [each._replace(recipes=1) for each in observed for _ in range(each.recipes)]
    dice.shuffle(single)
    assert time_left(observed, 30.0) == time_left(single, 30.0)


@given(
    st.lists(
        st.builds(
            lambda begin, length, started: Observation(begin, begin + length, started),
            st.integers(0, 20),
            st.integers(0, 20),
            st.booleans(),
        ),
        max_size=40,
    ),
    st.integers(1, 40),
)
def test_time_left__shorter_waits__change_nothing(observed: list[Observation], waited: int) -> None:
    longer = [each for each in observed if each.end > waited]
    assert time_left(observed, waited) == time_left(longer, waited)
