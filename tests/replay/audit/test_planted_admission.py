"""The audit finds first systems of sets that admission holds back, and sets that it should have ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from domain.directory.events import PartitionJobFilterRemoved
from replay.audit import at_rest, from_recorded
from tests.replay.audit.moves import (
    Pair,
    aborted,
    assigned,
    cancelled,
    grant,
    only,
    pending,
    place,
    queued,
    rule,
    start,
)
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

FACTS = {
    "owner": "eve",
    "submitter": "bot",
    "group": "qe",
    "tasks": ["/burn"],
    "operations": ["firmware-update"],
    "reasons": ["project:x", "note"],
}


def dependent(story: Story, *states: str, kind: str = "job") -> Story:
    """Submit set 5, which wants b and depends on job 1, whose recipe is on a."""
    depends_on = [{kind: 1, "states": [*states]}] if states else [{kind: 1}]
    story.job(5, {5: only("b")}, submitted={"depends_on": depends_on})
    return story


def caught(story: Story) -> None:
    """Give b to recipe 5, and check that the audit finds it."""
    story.batch(place(5, "b"))
    assert_caught(story, "admitted", "recipe/5", "recipe-set/5", "system/b")


def sound(story: Story) -> None:
    story.batch(place(5, "b"))
    assert story.violations() == []


@pytest.mark.parametrize("kind", ["job", "recipe_set"])
def test_admitted__dependency_has_not_ended__is_found(kind: str) -> None:
    caught(dependent(opening(), "completed", kind=kind))


@pytest.mark.parametrize(
    ("end", "states", "is_sound"),
    [
        (None, ("completed",), True),
        (None, (), True),
        (None, ("cancelled", "aborted"), False),
        (cancelled(1), ("cancelled",), True),
        (cancelled(1), (), False),
        (aborted(1), (), True),
        (aborted(1), ("completed",), False),
    ],
)
def test_admitted__dependency_has_ended__counts_only_in_a_named_state(
    end: Pair | None, states: tuple[str, ...], is_sound: bool
) -> None:
    story = dependent(opening(), *states)
    story.commit(cancelled(2))
    if end is None:
        story.complete(1, "a")
    else:
        story.commit(end, pending("a"))
    (sound if is_sound else caught)(story)


@pytest.mark.parametrize("action", ["PAUSE", "REJECT"])
def test_admitted__rule_applies__is_found(action: str) -> None:
    story = opening()
    story.commit(rule("audit", action))
    story.job(5, {5: only("b")})
    caught(story)


def test_admitted__rule_is_gone__is_sound() -> None:
    story = opening()
    story.commit(rule("audit", "PAUSE"))
    story.job(5, {5: only("b")})
    story.commit(("partition/default", PartitionJobFilterRemoved("audit")))
    sound(story)


@pytest.mark.parametrize(
    "rules",
    [
        [rule("a", "ACCEPT"), rule("b", "REJECT")],
        [rule("a", "PAUSE", priority=1), rule("b", "ACCEPT")],
        [rule("a", "PAUSE", watermark=2), rule("b", "ACCEPT", watermark=1)],
        [rule("a", "CONTINUE")],
        [rule("a", "RATE_LIMIT", limit=9), rule("b", "REJECT")],
    ],
)
def test_admitted__first_rule_lets_the_set_pass__is_sound(rules: list[Pair]) -> None:
    story = opening()
    story.commit(*rules)
    story.job(5, {5: only("b")})
    sound(story)


def test_admitted__rule_after_continue_applies__is_found() -> None:
    story = opening()
    story.commit(rule("a", "CONTINUE"), rule("b", "PAUSE", priority=1))
    story.job(5, {5: only("b")})
    caught(story)


@pytest.mark.parametrize(
    ("field", "op", "value", "matches"),
    [
        ("job_id", "=", 5, True),
        ("job_id", ">", "watermark", True),
        ("job_id", "in", ["watermark", 6], False),
        ("user", "=", "eve", True),
        ("user", "!=", "eve", False),
        ("submitter", "like", "b_t", True),
        ("submitter", "like", "b_", False),
        ("group", "<=", "qe", True),
        ("priority", ">", "Medium", True),
        ("priority", ">=", "High", False),
        ("task", "in", ["/burn", "/other"], True),
        ("operation", "=", "move", False),
        ("reason", "like", "project:%", True),
        ("reason", "!=", "note", False),
    ],
)
def test_admitted__rule_with_a_predicate__is_found_if_it_matches(
    field: str, op: str, value: Any, matches: bool
) -> None:
    comparison: Mapping[str, Any] = {"field": field, "op": op, "value": value}
    for predicate, is_held_back in (
        (comparison, matches),
        ({"not": [comparison]}, not matches),
        ({"and": [comparison, {"not": [comparison]}]}, False),
        ({"or": [comparison, {"not": [comparison]}]}, True),
    ):
        story = opening()
        story.commit(rule("audit", "PAUSE", predicate=predicate, watermark=3))
        story.job(5, {5: only("b")}, submitted=FACTS, owner="eve", group="qe")
        (caught if is_held_back else sound)(story)


def test_admitted__rule_put_while_a_set_holds_a_system__does_not_count() -> None:
    story = opening()
    story.commit(cancelled(2))
    story.idle("d")
    story.job(5, {5: only("b"), 6: only("d")})
    story.batch([*grant(5, "b"), assigned(6)])
    story.commit(rule("audit", "REJECT"))
    story.batch([*grant(6, "d"), *start(5, "b"), *start(6, "d")])
    assert [one.invariant for one in story.violations() if one.invariant == "admitted"] == []


def test_nobody_jumped__set_ahead_is_held_back__is_sound() -> None:
    story = opening()
    dependent(story, "completed")
    story.batch([queued(5, "it waits")])
    story.job(7, {7: only("b")})
    story.batch(place(7, "b"))
    assert story.violations() == []


@pytest.mark.parametrize("is_rejected", [False, True])
def test_no_end_overlooked__set_still_waits__is_found(is_rejected: bool) -> None:
    story = opening()
    story.commit(cancelled(2))
    dependent(story, "completed")
    story.batch([queued(5, "it waits")])
    if is_rejected:
        story.commit(rule("audit", "REJECT"))
    found = [one for one in at_rest(from_recorded(story.log)) if one.invariant == "no_end_overlooked"]
    assert bool(found) == is_rejected
    assert all("recipe-set/5" in one.subjects for one in found)
