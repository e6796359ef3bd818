"""The estimate of a recipe, its basis in words, and the kinds of recipes."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from domain.estimates.estimate import MIN_RECIPES, ComparedWaits, ObservedWaits, Wait
from domain.estimates.kinds import LADDER, RecipeKind, wait_properties

SINCE = datetime(2026, 3, 1, 12, tzinfo=UTC)
NARROWEST, WIDEST = LADDER[0], LADDER[-1]
ARM = '{"element":"arch","op":"==","value":"aarch64"}'
NAMED = '{"and":[{"element":"arch","op":"==","value":"x86_64"},{"element":"name","op":"==","value":"L-1"}]}'


def waits(outcome: str | None, *seconds: float, ahead: int = 0, begin: float = 0.0) -> list[ObservedWaits]:
    place = ahead + 1
    return [ObservedWaits(begin / place, each / place, outcome, 1, SINCE) for each in seconds]


def estimate(kind: RecipeKind, observed: list[ObservedWaits], wait: Wait) -> dict[str, Any]:
    return ComparedWaits(kind, observed).estimate(wait)


def test_estimate__of_a_new_recipe__has_quantiles_and_basis() -> None:
    found = estimate(NARROWEST, waits("started", *range(1, 100)), Wait(0.0, 0))
    assert found["p50_seconds"] == pytest.approx(50)
    assert found["p90_seconds"] == pytest.approx(90)
    assert found["more_than_seconds"] is None
    assert found["basis"] == {
        "kind": "requirement and priority",
        "recipes": 99,
        "started": 99,
        "waiting": 0,
        "since": SINCE,
        "words": "99 recipes with the same requirement and priority, since 2026-03-01 12:00 UTC: 99 started",
    }


def test_estimate__longer_queue_than_before__is_longer_in_proportion() -> None:
    dice = Random(1)
    past = [each for _ in range(200) for each in waits("started", dice.uniform(50, 150), ahead=2)]
    short, long = (estimate(WIDEST, past, Wait(0.0, ahead)) for ahead in (2, 5))
    assert short["p90_seconds"] == pytest.approx(140, rel=0.05)
    assert long["p90_seconds"] == pytest.approx(2 * short["p90_seconds"])


def test_estimate__many_still_wait__says_more_than() -> None:
    found = estimate(
        WIDEST,
        [*waits("started", 10, 20), *waits("ended", 40), *waits("waits", *[60.0] * 30), *waits(None, 50)],
        Wait(15.0, 0),
    )
    assert (found["p50_seconds"], found["p90_seconds"]) == (None, None)
    assert found["more_than_seconds"] == pytest.approx(45)
    assert found["basis"]["words"] == (
        "32 recipes of the partition that waited as long for their place, since 2026-03-01 12:00 UTC:"
        " 1 started, 1 ended without a start, 30 still waiting"
    )


def test_estimate__nothing_to_compare__says_so() -> None:
    found = estimate(WIDEST, waits("started", 10.0), Wait(15.0, 0))
    assert found["p50_seconds"] is found["p90_seconds"] is found["more_than_seconds"] is None
    assert found["basis"]["since"] is None
    assert found["basis"]["words"] == "no recipe of the partition waited as long for its place"


def test_recipes__parts_of_waits__count_once() -> None:
    compared = ComparedWaits(WIDEST, [*waits("waits", 5), *waits(None, 9)])
    assert [compared.recipes(Wait(seconds, 0)) for seconds in (0.0, 4.9, 5.0)] == [1, 1, 0]
    assert MIN_RECIPES == 30


def test_wait_properties__architecture__from_the_distro_before_the_host() -> None:
    assert wait_properties(ARM, NAMED).arch == "x86_64"
    assert wait_properties(ARM, "").arch == "aarch64"
    assert wait_properties(ARM, "", "s390x").arch == "s390x"
    assert wait_properties(f'{{"not":[{ARM}]}}', "").arch == ""


def test_wait_properties__requirement__differs_by_host_and_architecture_only() -> None:
    other_tree = NAMED.replace("L-1", "L-2")
    digests = [wait_properties(*each).requirement for each in ((ARM, NAMED), (ARM, other_tree), (ARM, ""))]
    assert digests[0] == digests[1] != digests[2]
