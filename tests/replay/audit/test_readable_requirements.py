"""An unreadable requirement is reported once, and causes no other violation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.replay.audit.moves import assigned, grant, idle, only, place, queued, start
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

TEAPOT = {"element": "teapot", "op": "==", "value": "brown"}


@pytest.mark.parametrize(
    "form",
    [
        TEAPOT,
        {"and": [TEAPOT]},
        {"xor": []},
        {"element": "memory", "op": "~", "value": 1},
        {"element": "memory", "op": "=="},
        {"element": "memory", "op": "==", "value": "much"},
        {"force": 1},
        {"and": 1},
        [],
        "arch",
    ],
)
def test_readable_requirements__requirement_that_nobody_knows__is_the_only_finding(form: Any) -> None:
    """The recipe waits before others, gets a system and holds one: none of that is judged."""
    story = opening()
    story.queue(5, {5: form}, "Urgent")
    story.decide(place(5, "b"))
    story.job(6, {6: form, 7: only("c")}, "Urgent")
    story.decide([*grant(7, "c", "lab-2"), assigned(6, "lab-2")])
    story.complete(1, "a")
    story.decide(place(2, "a"))
    story.complete(5, "b")
    story.decide([idle("b")])
    assert_caught(story, "understood", "recipe/5")


def test_usable_grant__beside_what_nobody_knows__is_judged() -> None:
    story = opening()
    story.queue(5, {5: TEAPOT})
    story.job(6, {6: only("b"), 7: TEAPOT})
    story.decide([*grant(6, "b"), assigned(7)])
    story.job(8, {8: only("a")})
    story.decide([*grant(8, "c", "lab-2"), *start(8, "c")])
    story.decide([queued(2)])
    assert_caught(story, "usable_grant", "recipe/8", "system/c", beside={"understood", "legal_transitions"})


def test_usable_grant__of_a_policy_with_other_rules__is_not_judged() -> None:
    def jumps(policy: int) -> Story:
        story = opening()
        story.queue(5, {5: only("a")}, "Low")
        story.complete(1, "a")
        story.decide(place(5, "a"), policy=policy)
        return story

    assert jumps(1).violations() == []
    assert_caught(jumps(2), "nobody_jumped", "recipe/5", "recipe/2")
    assert_caught(jumps(3), "nobody_jumped", "recipe/5", "recipe/2")
