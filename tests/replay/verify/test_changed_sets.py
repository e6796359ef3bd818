"""The abort of a changed set that no lab can serve is recomputed, and one that is missing is found."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from domain.events import Recorded
from domain.recipe.events import RecipeAborted
from domain.scheduling.decisions.decide import WITHOUT_CLAIMS, decide
from replay.verify.recomputation import Recomputation
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import occupy, one_lab


def changed() -> Sequence[Recorded]:
    """Return a log in which a person changes a set that has a system, so that both recipes want that one."""
    world = one_lab()
    world.add_idle("a", "b")
    occupy(world, "b")
    _, other = world.submit_set([named("a"), named("b")])
    world.settle()
    world.change_recipe(other, host_requires=named("a"))
    world.settle()
    return world.log


def aborted(log: Sequence[Recorded]) -> int:
    return sum(isinstance(each.event, RecipeAborted) for each in log)


def decide_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tests.domain.scheduling.world.decide", partial(decide, policy_version=WITHOUT_CLAIMS)
    )


def test_abort__of_a_changed_set__is_recomputed() -> None:
    log = changed()
    assert aborted(log) == 2
    assert list(Recomputation().take_all(log)) == []


def test_abort__left_out_by_the_scheduler__is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    decide_as_before(monkeypatch)
    log = changed()
    assert aborted(log) == 0
    differences = list(Recomputation().take_all(log))
    topics = {event.TOPIC for each in differences if each.recomputed for _, event in each.recomputed.events}
    assert "recipe.aborted" in topics


def test_abort__left_out_by_an_earlier_policy__is_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    decide_as_before(monkeypatch)
    monkeypatch.setattr("tests.domain.scheduling.folded_log.POLICY_VERSION", WITHOUT_CLAIMS)
    log = changed()
    assert aborted(log) == 0
    assert list(Recomputation().take_all(log)) == []
