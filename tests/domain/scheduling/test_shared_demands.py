"""Hosts with equal demands share one object: a lab has a million hosts, and some thousand demands."""

from __future__ import annotations

import pytest

from domain.scheduling.sets import host_index
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import one_lab


def test_demands__of_equal_hosts__are_one_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_index, "MAX_EQUAL", 2)
    world = one_lab()
    one, same, other, third, again = (world.submit(named(name)) for name in ("a", "a", "b", "c", "a"))
    recipes, index = world.partition.sets.recipes, world.partition.sets.index
    of = {number: index.demand(recipes[number]) for number in (one, same, other, third, again)}
    assert of[one] is of[same] and of[one] != of[other]
    # After two others, the demand is equal, and no longer the same.
    assert of[again] == of[one] and of[again] is not of[one]
