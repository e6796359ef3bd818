"""Orders of queues: fair shares, priorities of queues, fair leaves, and trees without any other order."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from random import Random
from typing import Any

import pytest

from domain.admission.configuration import ALWAYS
from domain.events import data_of
from domain.queues.tree import FAIR, FIFO, PRIORITY
from tests.domain.scheduling import history
from tests.domain.scheduling.contents import check_indexes, restored_copy, snapshot_of
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.policies import everybody, user
from tests.domain.scheduling.queue_labs import NAMES, close, end_one_by_one, queues, submit, used
from tests.domain.scheduling.world import World


@pytest.mark.parametrize("kind", ["one job each", "a set of jobs each", "sets of two"])
def test_fair__two_equal_queues_with_enough_work__never_differ_by_more_than_one_system(
    lab: World, kind: str
) -> None:
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    for queue in ("root.a", "root.b"):
        for number in range(40):
            job: dict[str, Any] = {"job_id": 1_000 + number} if kind == "a set of jobs each" else {}
            if kind == "sets of two" and number % 4 == 0:
                lab.submit_set([named(*NAMES)] * 2, submitted={"queue": queue})
            else:
                submit(lab, queue, **job)
    lab.settle()
    assert used(lab).total() == len(NAMES)
    allowed = 1 + (kind == "sets of two")
    for _ in chain([None], end_one_by_one(lab, Random(7), 25)):
        shares = used(lab)
        assert shares.total() == len(NAMES)
        assert abs(shares["root.a"] - shares["root.b"]) <= allowed


def test_fair__two_jobs_of_a_fair_leaf__never_differ_by_more_than_one_system(lab: World) -> None:
    queues(lab, {"name": "a", "order": FAIR})
    for job_id in (1_001, 1_002):
        for _ in range(30):
            submit(lab, "root.a", job_id=job_id)
    lab.settle()
    for _ in chain([None], end_one_by_one(lab, Random(3), 15)):
        of_job = Counter(lab.partition.sets.sets[each.recipe_set_id].job_id for each in lab.placed())
        assert of_job.total() == len(NAMES) and abs(of_job[1_001] - of_job[1_002]) <= 1


def test_fair__guarantees__shares_follow_them(lab: World) -> None:
    queues(lab, {"name": "a", "guaranteed": 6}, {"name": "b", "guaranteed": 2}, order=FAIR)
    submit(lab, "root.b", count=20)
    submit(lab, "root.a", count=20)
    lab.settle()
    assert used(lab) == {"root.a": 6, "root.b": 2}
    for _ in end_one_by_one(lab, Random(5), 5):
        assert used(lab)["root.b"] in (2, 3)


def test_fair__nested__each_level_shares_what_it_has(lab: World) -> None:
    kernel = {"name": "k", "order": FAIR, "queues": [{"name": "x"}, {"name": "y"}]}
    queues(lab, kernel, {"name": "b"}, order=FAIR)
    for queue in ("root.k.x", "root.k.y", "root.b"):
        submit(lab, queue, count=12)
    lab.settle()
    assert used(lab) == {"root.b": 4, "root.k.x": 2, "root.k.y": 2}


def test_fair__queue_without_a_recipe_for_the_system__is_passed_over(lab: World) -> None:
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    submit(lab, "root.a", "a", count=3)
    submit(lab, "root.b", count=9)
    lab.settle()
    assert used(lab) == {"root.a": 1, "root.b": 7}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({}, {}, "root.b"),
        ({"priority_offset": 2}, {}, "root.a"),
        ({"priority_offset": 1}, {}, "root.b"),
        ({}, {"fence": True}, "root.a"),
        ({}, {"fence": True, "priority_offset": 4}, "root.b"),
    ],
)
def test_priority__offsets_and_fences__decide_before_the_priorities(
    lab: World, first: dict[str, Any], second: dict[str, Any], expected: str
) -> None:
    queues(lab, {"name": "a", **first}, {"name": "b", **second}, order=PRIORITY)
    blocker = submit(lab, "root.default", "a")
    lab.settle()
    submit(lab, "root.a", "a", priority="Normal")
    submit(lab, "root.b", "a", priority="High")
    lab.settle()
    lab.complete(blocker[0])
    lab.settle()
    assert used(lab) == {expected: 1}


def test_fence__in_a_fair_tree__has_no_effect(lab: World) -> None:
    queues(lab, {"name": "a", "fence": True, "priority_offset": 9}, {"name": "b"}, order=FAIR)
    submit(lab, "root.a", count=10)
    submit(lab, "root.b", count=10)
    lab.settle()
    assert used(lab) == {"root.a": 4, "root.b": 4}


@pytest.mark.parametrize("first", ["within_priority", ALWAYS])
def test_assigned_first__set_that_holds_a_system__with_always_before_the_turn_of_its_queue(
    lab: World, first: str
) -> None:
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR, assigned={"assigned_first": first})
    blocker = submit(lab, "root.default", "b")
    lab.settle()
    holder = lab.submit_set([named("a"), named("b")], submitted={"queue": "root.a"})
    lab.settle()
    other = submit(lab, "root.b", "b")
    lab.settle()
    # `a` has one system, `b` none.
    assert lab.states(*holder) == ["scheduled", "assigned"]
    lab.complete(blocker[0])
    lab.settle()
    assert lab.system_of(holder[1] if first == ALWAYS else other[0]) == "b"


def test_orders__changed_while_sets_wait__decide_from_then_on(lab: World) -> None:
    queues(lab, {"name": "a"}, {"name": "b"})
    blockers = submit(lab, "root.default", count=8)
    lab.settle()
    submit(lab, "root.a", count=10)
    submit(lab, "root.b", count=10)
    lab.settle()
    for blocker in blockers[:4]:
        lab.complete(blocker)
    lab.settle()
    assert used(lab) == {"root.default": 4, "root.a": 4}
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    for blocker in blockers[4:]:
        lab.complete(blocker)
    lab.settle()
    assert used(lab) == {"root.a": 4, "root.b": 4}
    assert snapshot_of(restored_copy(lab.partition)) == snapshot_of(lab.partition)


def test_fair__effective_priorities__decide_within_a_leaf_only(lab: World) -> None:
    lab.open_system("a", everybody("Low"), user("eve", "High"))
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    blocker = submit(lab, "root.b", "a")
    submit(lab, "root.b", "b")
    lab.settle()
    submit(lab, "root.b", "a", priority="High", owner="eve")
    capped = submit(lab, "root.a", "a", priority="Urgent")
    urgent = submit(lab, "root.a", "a", priority="High", owner="eve")
    lab.settle()
    lab.complete(blocker[0])
    lab.settle()
    # On this system the recipe of ada is Low, and queue b has a system already.
    assert lab.states(*urgent, *capped) == ["waiting", "queued"]


def test_orders__changed_in_the_middle_of_a_batch__decide_about_the_new_sets_that_are_left(
    lab: World,
) -> None:
    queues(lab, {"name": "a"}, {"name": "b"})
    close(lab, *NAMES[2:])
    submit(lab, "root.a", count=3)
    submit(lab, "root.b", count=3)
    lab.commit_decisions(lab.decide(limit=1), lab.position)
    lab.configure(queues={"order": FAIR, "queues": [{"name": "a"}, {"name": "b"}]})
    lab.settle()
    assert used(lab) == {"root.a": 1, "root.b": 1}


def test_orders__of_queues_that_vanish__end_with_them(lab: World) -> None:
    queues(lab, {"name": "a", "order": FAIR}, {"name": "b", "template": {"order": FAIR}, "queues": []})
    submit(lab, "root.a", job_id=1_001, count=8)
    lab.settle()
    late = submit(lab, "root.b.new", count=1)
    early = submit(lab, "root.a", job_id=1_001, priority="High")
    assert not lab.partition.sets.turns.is_one_line
    queues(lab)
    assert lab.partition.sets.turns.is_one_line
    lab.complete(lab.placed()[0].recipe_id)
    lab.settle()
    assert lab.states(*early, *late) == ["waiting", "queued"]


def _plain_tree(seed: int) -> dict[str, Any]:
    leaves = [{"name": "b", "order": FIFO}, {"name": "c"}]
    parent = {"name": "a", "queues": leaves, "priority_offset": seed, "guaranteed": 3}
    people = {"name": "people", "template": {"order": FIFO}, "queues": []}
    return {"order": FIFO, "queues": [parent, people]}


@pytest.mark.parametrize("seed", range(4))
def test_tree__of_fifo_queues_without_limits__decides_as_no_tree_does(seed: int) -> None:
    """Compare two histories event for event: the same requests with a tree and without any."""
    logs = []
    for tree in (_plain_tree(seed), None):
        chance, world = Random(seed), history.begin(seed)
        if tree is not None:
            world.configure(queues=tree)
        for _ in range(40):
            history.burst(chance, world, history.IN_QUEUES)
            world.settle()
        rows = [row for row in world.log if row.event.TOPIC != "partition.configured"]
        # The configuration has a position of its own.
        number_of = {f"event/{row.position}": str(number) for number, row in enumerate(rows)}
        logs.append(
            [
                (row.subject, repr(data_of(row.event)), number_of.get(row.stamp.cause, row.stamp.cause))
                for row in rows
            ]
        )
    assert logs[0] == logs[1] and len(logs[0]) > 300


@pytest.mark.parametrize("named_first", [False, True])
def test_orders__dynamic_queue_of_a_fair_template_that_is_named__its_recipes_move(
    lab: World, named_first: bool
) -> None:
    people = {"name": "people", "template": {"order": FAIR}}
    trees = [{**people, "queues": []}, {**people, "queues": [{"name": "ada"}]}]
    first, second = reversed(trees) if named_first else trees
    queues(lab, first)
    close(lab, *NAMES[1:])
    waiting = submit(lab, "root.people.ada", "a", count=3)
    lab.settle()
    queues(lab, second)
    check_indexes(lab.partition)
    lab.cancel(waiting[1])
    lab.complete(waiting[0])
    lab.settle()
    assert lab.states(*waiting) == ["completed", "cancelled", "waiting"]
