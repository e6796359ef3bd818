"""The audit finds grants out of the turns of queues: fair shares, priorities of queues, and fair leaves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import pytest

from tests.replay.audit.moves import assigned, configured, grant, only, place, queued, start
from tests.replay.audit.planted import assert_caught
from tests.replay.audit.story import Story

Fields = Mapping[str, Any]
NOTHING: Fields = {}

X, Y, OTHER = "root.k.x", "root.k.y", "root.other"


def tree(
    order: str = "fifo", x: Fields = NOTHING, y: Fields = NOTHING, kernel: Fields = NOTHING
) -> dict[str, Any]:
    leaves = [{"name": "x", **x}, {"name": "y", **y}]
    return {"queues": [{"name": "k", "order": order, "queues": leaves, **kernel}, {"name": "other"}]}


def two_wait(section: dict[str, Any], first: tuple[str, str], second: tuple[str, str]) -> Story:
    """Return a story: recipe 1 of job 1 holds a in x; 11 of job 1 and 12 of job 12 wait for b.

    These two are given by queue and priority.
    """
    story = Story()
    story.labs("lab-1")
    story.tree(1, "lab-1")
    story.commit(configured(queues=section))
    story.idle("a", "b")
    story.job(1, {1: only("a")}, submitted={"queue": X})
    story.decide(place(1, "a"))
    story.job(2, {2: only("b")}, submitted={"queue": OTHER})
    story.decide(place(2, "b"))
    for number, job_id, (queue, priority) in ((11, 1, first), (12, 12, second)):
        story.job(number, {number: only("b")}, priority, submitted={"queue": queue, "job_id": job_id})
        story.decide([queued(number)])
    story.complete(2, "b")
    return story


@pytest.mark.parametrize(
    ("section", "first", "second", "winner"),
    [
        # In one line: priorities, then submission.
        (tree(), (X, "Normal"), (Y, "Normal"), 11),
        (tree(), (X, "Normal"), (Y, "High"), 12),
        # x has a system, y none; a guarantee makes up for it.
        (tree("fair"), (X, "Urgent"), (Y, "Low"), 12),
        (tree("fair"), (Y, "Low"), (X, "Urgent"), 11),
        (tree("fair", x={"guaranteed": 5}), (X, "Urgent"), (Y, "Low"), 12),
        # Equal shares, as nothing is in use in either.
        (tree(order="fifo"), (Y, "Normal"), (OTHER, "Normal"), 11),
        # Shares on the level above: k has a system, other none.
        ({**tree(), "order": "fair"}, (Y, "Urgent"), (OTHER, "Low"), 12),
        ({**tree(kernel={"guaranteed": 9}), "order": "fair"}, (Y, "Urgent"), (OTHER, "Low"), 12),
        # Priorities of queues, with offsets and fences, then shares.
        (tree("priority"), (X, "Normal"), (Y, "High"), 12),
        (tree("priority", x={"priority_offset": 2}), (X, "Normal"), (Y, "High"), 11),
        (tree("priority", x={"priority_offset": 1}), (X, "Normal"), (Y, "High"), 12),
        (tree("priority", y={"fence": True}), (X, "Low"), (Y, "Urgent"), 11),
        (tree("priority", y={"fence": True, "priority_offset": 2}), (X, "Low"), (Y, "Low"), 12),
        (tree("priority"), (X, "Normal"), (Y, "Normal"), 12),
        # A fair leaf: job 1 has a system. Priorities come before.
        (tree(x={"order": "fair"}), (X, "Normal"), (X, "Normal"), 12),
        (tree(x={"order": "fair"}), (X, "High"), (X, "Normal"), 11),
        (tree(), (X, "Normal"), (X, "Normal"), 11),
        # Only a leaf compares jobs.
        (tree(x={"order": "fair"}), (X, "Normal"), (Y, "Normal"), 11),
    ],
)
def test_nobody_jumped__turns_of_queues__in_both_directions(
    section: dict[str, Any], first: tuple[str, str], second: tuple[str, str], winner: int
) -> None:
    sound = two_wait(section, first, second)
    sound.batch(place(winner, "b"))
    assert list(map(str, sound.violations())) == []
    jump = two_wait(section, first, second)
    jump.batch(place(23 - winner, "b"))
    assert_caught(jump, "nobody_jumped", "recipe/11", "recipe/12", "system/b")


@pytest.mark.parametrize(("order", "first"), [("fifo", 11), ("fair", 12)])
def test_nobody_jumped__new_sets_of_one_batch__the_queue_with_the_smaller_share_is_first(
    order: str, first: int
) -> None:
    def story(*numbers: int) -> Story:
        begun = Story()
        begun.labs("lab-1")
        begun.tree(1, "lab-1")
        begun.commit(configured(queues=tree(order)))
        begun.idle("a", "b")
        begun.job(1, {1: only("a")}, submitted={"queue": X})
        begun.decide(place(1, "a"))
        begun.job(11, {11: only("b")}, submitted={"queue": X})
        begun.job(12, {12: only("b")}, submitted={"queue": Y})
        begun.batch(place(numbers[0], "b"), [queued(numbers[1])])
        return begun

    assert list(map(str, story(first, 23 - first).violations())) == []
    assert_caught(story(23 - first, first), "nobody_jumped", "recipe/11", "recipe/12", "system/b")


@pytest.mark.parametrize("first", [11, 12])
def test_nobody_jumped__recipes_of_one_new_set__have_no_order(first: int) -> None:
    story = Story()
    story.labs("lab-1")
    story.tree(1, "lab-1")
    story.commit(configured(queues=tree("fair")))
    story.idle("a", "b", "c")
    story.job(11, {11: only("a", "b"), 12: only("a", "b"), 13: only("c")}, submitted={"queue": X})
    placed = {13: "c", first: "a", 23 - first: "b"}
    grants = [grant(number, fqdn) for number, fqdn in placed.items()]
    starts = [start(number, fqdn) for number, fqdn in placed.items()]
    story.batch([*grants[0], assigned(11), assigned(12), *chain(*grants[1:]), *chain(*starts)])
    assert list(map(str, story.violations())) == []


def recipe_of_a_former_leaf_waits() -> Story:
    """Return a story: 11 of the queue k and 12 of the queue x below it wait for b, which is free."""
    story = Story()
    story.labs("lab-1")
    story.tree(1, "lab-1")
    story.commit(configured(queues={"order": "fair", "queues": [{"name": "k"}]}))
    story.idle("b")
    story.job(1, {1: only("b")}, submitted={"queue": OTHER})
    story.decide(place(1, "b"))
    story.queue(11, {11: only("b")}, "Low", submitted={"queue": "root.k"})
    story.commit(configured(queues=tree(kernel={"guaranteed": 1}) | {"order": "fair"}))
    story.queue(12, {12: only("b")}, "Urgent", submitted={"queue": X})
    story.complete(1, "b")
    return story


def test_nobody_jumped__recipe_of_a_former_leaf__is_before_those_below() -> None:
    sound = recipe_of_a_former_leaf_waits()
    sound.batch(place(11, "b"))
    assert list(map(str, sound.violations())) == []
    jump = recipe_of_a_former_leaf_waits()
    jump.batch(place(12, "b"))
    assert_caught(jump, "nobody_jumped", "recipe/11", "recipe/12", "system/b")


@pytest.mark.parametrize(("last", "winner"), [(tree("fair"), 12), ({}, 11)])
def test_nobody_jumped__order_of_a_vanished_queue__has_ended(last: dict[str, Any], winner: int) -> None:
    def story(number: int) -> Story:
        begun = two_wait(tree("fair"), (X, "Normal"), (Y, "Normal"))
        begun.commit(configured(queues=last))
        begun.batch(place(number, "b"))
        return begun

    assert list(map(str, story(winner).violations())) == []
    assert_caught(story(23 - winner), "nobody_jumped", "recipe/11", "recipe/12", "system/b")


@pytest.mark.parametrize(("order", "winner"), [("fifo", 11), ("fair", 12)])
def test_no_room_jumped__maximum_of_a_parent__room_goes_to_the_queue_whose_turn_it_is(
    order: str, winner: int
) -> None:
    def story(number: int) -> Story:
        begun = Story()
        begun.labs("lab-1")
        begun.tree(1, "lab-1")
        begun.commit(configured(queues=tree(order, kernel={"max": 2})))
        begun.idle("a", "b", "c")
        begun.job(1, {1: only("a")}, submitted={"queue": X})
        begun.decide(place(1, "a"))
        begun.job(2, {2: only("b", "c")}, submitted={"queue": X})
        begun.decide(place(2, "b"))
        # Both lack room until recipe 2 ends, and want different systems.
        for each, queue, fqdn in ((11, X, "b"), (12, Y, "c")):
            begun.job(each, {each: only(fqdn)}, submitted={"queue": queue})
            begun.decide([queued(each, "no room under a limit: max 2 systems in queue root.k")])
        begun.complete(2, "b")
        begun.batch(place(number, {11: "b", 12: "c"}[number]))
        return begun

    assert list(map(str, story(winner).violations())) == []
    assert_caught(story(23 - winner), "no_room_jumped", "recipe/11", "recipe/12")
