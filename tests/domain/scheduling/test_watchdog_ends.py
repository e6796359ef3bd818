"""The ends of watchdogs; most of them are outdated before their time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from domain.scheduling.sets import watchdogs
from domain.scheduling.sets.watchdogs import Watchdogs

BEGINNING = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("seed", range(4))
def test_expired__recipes_begin_are_extended_and_end__are_those_whose_present_end_is_past(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdogs, "_FEW_OUTDATED", 20)
    chance, recipes, now = Random(seed), dict[int, Any](), BEGINNING
    found = Watchdogs(recipes)
    for _ in range(3_000):
        recipe_id = chance.randrange(40)
        before = recipes.get(recipe_id)
        end = None if chance.random() < 0.4 else now + timedelta(seconds=chance.randrange(100))
        recipes[recipe_id] = SimpleNamespace(recipe_id=recipe_id, deadline=end, recorded_deadline=end)
        found.put(before, recipes[recipe_id])
        if end is None and chance.random() < 0.5:
            del recipes[recipe_id]
        now += timedelta(seconds=chance.randrange(2))
        if chance.random() < 0.2:
            late = [each for each, recipe in recipes.items() if recipe.deadline and recipe.deadline <= now]
            assert found.expired(now) == sorted(late)
            assert found.expired(now) == sorted(late), "a decision on them may be rolled back"
        assert len(found._ends) <= 2 * len(recipes) + 20 + 1
