"""Orders of queues: fair shares, priorities of queues, fair leaves, and trees without any other order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain
from random import Random
from typing import Any

import pytest

from domain.admission.configuration import ALWAYS
from domain.events import data_of
from domain.queues.tree import FAIR, FIFO, PRIORITY
from domain.scheduling.decisions.system_order import ranks_for_system
from domain.scheduling.explaining.places import Places, places_on
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from replay.audit import from_recorded
from tests.domain.scheduling import history
from tests.domain.scheduling.contents import check_indexes, restored_copy, snapshot_of
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.policies import everybody, user
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_at_rest, assert_sound

NAMES = "abcdefgh"
K_TICKS = timedelta(minutes=15)


@pytest.fixture
def lab(world: World) -> Iterator[World]:
    """Return a lab of eight idle systems; in the end the audit must find no violation."""
    world.add_idle(*NAMES)
    yield world
    world.settle()
    check_indexes(world.partition)
    assert_sound(list(from_recorded(world.log)))
    assert_at_rest(list(from_recorded(world.log)))


def queues(lab: World, *children: dict[str, Any], **root: Any) -> None:
    sections = {"order": root.pop("assigned", {})}
    lab.configure(queues={**root, "queues": list(children)}, **sections)
    lab.settle()


def submit(lab: World, queue: str, fqdns: str = NAMES, count: int = 1, **new: Any) -> list[int]:
    return [lab.submit(named(*fqdns), submitted={"queue": queue}, **new) for _ in range(count)]


def used(lab: World) -> Counter[str]:
    """Return the number of systems by leaf, counted from the recipes."""
    sets = lab.partition.sets
    return Counter(
        sets.sets[sets.recipes[each.recipe_id].recipe_set_id].submitted.queue for each in lab.placed()
    )


def served(lab: World, since: int) -> list[int]:
    """Return the recipes that got a system after a position, in order."""
    rows = (row for row in lab.log if row.position > since and row.event.TOPIC == "recipe.scheduled")
    return [int(row.subject.partition("/")[2]) for row in rows]


def end_one_by_one(lab: World, chance: Random, count: int) -> Iterator[None]:
    """End recipes at random, also several at once, and yield after the answer of the scheduler."""
    for _ in range(count):
        for each in chance.sample(lab.placed(), chance.choice((1, 1, 2, 3))):
            if lab.states(each.recipe_id) == ["waiting"]:
                lab.complete(each.recipe_id)
        lab.settle()
        yield


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


def test_fair__maximum_of_a_parent__room_follows_the_turns(lab: World) -> None:
    parent = {"name": "k", "max": 4, "order": FAIR, "queues": [{"name": "x"}, {"name": "y"}]}
    queues(lab, parent)
    # All of x were submitted before all of y, so without turns x would get all the room.
    submit(lab, "root.k.x", count=10)
    submit(lab, "root.k.y", count=10)
    lab.settle()
    assert used(lab) == {"root.k.x": 2, "root.k.y": 2}
    for _ in end_one_by_one(lab, Random(1), 8):
        shares = used(lab)
        assert shares.total() == 4 and abs(shares["root.k.x"] - shares["root.k.y"]) <= 1


def test_room__of_a_former_leaf__before_the_queues_below_it(lab: World) -> None:
    queues(lab, {"name": "k", "max": 1}, order=FAIR)
    holder = submit(lab, "root.k", "a")
    lab.settle()
    early = submit(lab, "root.k", "b", priority="Low")
    queues(lab, {"name": "k", "max": 1, "queues": [{"name": "x"}]}, order=FAIR)
    late = submit(lab, "root.k.x", "c", priority="Urgent")
    lab.settle()
    lab.complete(holder[0])
    lab.settle()
    assert lab.states(*early, *late) == ["waiting", "queued"]


def test_wake_up__many_idle_systems__are_shared_fairly(lab: World) -> None:
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    close(lab, *NAMES)
    submit(lab, "root.a", count=9)
    submit(lab, "root.b", count=9)
    lab.settle()
    assert wake(lab, *NAMES) == [1, 10, 2, 11, 3, 12, 4, 13]


@pytest.mark.parametrize("order", [FIFO, FAIR])
def test_room__kept_for_a_larger_set_of_a_queue_with_a_smaller_share__also_from_earlier_sets(
    lab: World, order: str
) -> None:
    lab.configure(
        queues={"order": order, "queues": [{"name": "a"}, {"name": "b"}]}, limits={"placed_recipes": 3}
    )
    submit(lab, "root.a", "h")
    submit(lab, "root.a", "g")
    close(lab, "c")
    (earlier,) = submit(lab, "root.a", "c")
    lab.settle()
    larger = lab.submit_set([named("d"), named("e")], submitted={"queue": "root.b"})
    lab.settle()
    lab.now += K_TICKS
    lab.undrain("c")
    lab.settle()
    # a has two systems, and b has none.
    assert lab.states(earlier, *larger) == ["queued" if order == FAIR else "waiting", "queued", "queued"]


def test_room__kept_in_a_fair_leaf__by_age_alone(lab: World) -> None:
    lab.configure(queues={"queues": [{"name": "a", "order": FAIR}]}, limits={"placed_recipes": 2})
    submit(lab, "root.a", "h", job_id=1_001)
    close(lab, "c")
    (earlier,) = submit(lab, "root.a", "c", job_id=1_001)
    lab.settle()
    lab.submit_set([named("d"), named("e")], submitted={"queue": "root.a"})
    lab.settle()
    lab.now += K_TICKS
    lab.undrain("c")
    lab.settle()
    # Its job has a system, but the set was submitted before the larger one.
    assert lab.states(earlier) == ["waiting"]


def test_room__of_two_fair_leaves__systems_of_jobs_do_not_count_between_them(lab: World) -> None:
    leaves = [{"name": "x", "order": FAIR}, {"name": "y", "order": FAIR}]
    queues(lab, {"name": "k", "max": 2, "queues": leaves})
    submit(lab, "root.k.x", "h", job_id=1_001)
    (ends,) = submit(lab, "root.k.x", "g")
    lab.settle()
    (earlier,), (later,) = submit(lab, "root.k.x", "a", job_id=1_001), submit(lab, "root.k.y", "b")
    lab.settle()
    lab.complete(ends)
    lab.settle()
    assert lab.states(earlier, later) == ["waiting", "queued"]


def wake(lab: World, *fqdns: str) -> list[int]:
    """Let systems come free at once by a wake-up of their lab; return the recipes that get one, in order."""
    since = lab.log[-1].position
    lab.enable("lab-1", False)
    for fqdn in fqdns:
        lab.undrain(fqdn)
    lab.settle()
    lab.enable("lab-1", True)
    lab.settle()
    return served(lab, since)


def close(lab: World, *fqdns: str) -> None:
    for fqdn in fqdns:
        lab.drain(fqdn)
    lab.settle()


def test_wake_up__queue_that_is_next_depends_on_other_systems__each_system_asks_its_own_order(
    lab: World,
) -> None:
    inner = {"name": "k", "order": FAIR, "queues": [{"name": "x"}, {"name": "y"}]}
    queues(lab, inner, {"name": "b"})
    submit(lab, "root.k.y", "h")
    close(lab, "a", "b")
    (of_y,), (of_b,), (of_x,) = (
        submit(lab, "root.k.y", "a"),
        submit(lab, "root.b", "ab"),
        submit(lab, "root.k.x", "b"),
    )
    lab.settle()
    # On both systems together x is next in k, and b stands before x. On `a` alone y is next, before b.
    assert wake(lab, "a", "b") == [of_y, of_b]
    assert (lab.system_of(of_y), lab.system_of(of_b), lab.system_of(of_x)) == ("a", "b", None)


def test_wake_up__systems_of_several_access_classes__queue_with_the_smaller_share_is_served_first(
    lab: World,
) -> None:
    lab.open_system("b", everybody("High"))
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    submit(lab, "root.a", "h")
    close(lab, "a", "b")
    (of_a,), (of_b,) = submit(lab, "root.a", "a"), submit(lab, "root.b", "b")
    lab.settle()
    assert wake(lab, "a", "b") == [of_b, of_a]


def test_wake_up__share_rises_with_a_grant__queue_comes_later_on_systems_of_other_classes(lab: World) -> None:
    lab.open_system("b", everybody("High"))
    lab.open_system("c", everybody("Urgent"))
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    close(lab, "a", "b", "c")
    (first,), (second,) = submit(lab, "root.a", "a"), submit(lab, "root.a", "b")
    (third,), (fourth,) = submit(lab, "root.b", "b"), submit(lab, "root.b", "c")
    lab.settle()
    assert wake(lab, "a", "b", "c") == [first, third, fourth]
    assert lab.states(second) == ["queued"]


def test_wake_up__job_of_a_fair_leaf_gets_a_system__comes_later_on_systems_of_other_classes(
    lab: World,
) -> None:
    lab.open_system("b", everybody("High"))
    queues(lab, {"name": "a", "order": FAIR})
    close(lab, "a", "b")
    (first,), (second,) = (submit(lab, "root.a", fqdn, job_id=1_001) for fqdn in "ab")
    (other,) = submit(lab, "root.a", "b", job_id=1_002)
    lab.settle()
    assert wake(lab, "a", "b") == [first, other]
    assert lab.states(second) == ["queued"]


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


def test_recipe__of_a_queue_that_waits_for_its_turn__says_which_share_comes_first(lab: World) -> None:
    queues(lab, {"name": "a", "guaranteed": 4}, {"name": "b"}, order=FAIR)
    submit(lab, "root.a", "abc", count=3)
    lab.settle()
    late, early = submit(lab, "root.a", "a"), submit(lab, "root.b", "a")
    lab.settle()
    host = lab.partition.sets.recipes[late[0]]
    (found,) = (
        each for each in why_it_waits(lab.partition, host, WaitingOptions(9)).systems if each.fqdn == "a"
    )
    assert (found.before, [each.recipe_id for each in found.ahead]) == (1, early)
    by = "fair share of queue root.b before root.a: 0 for 1 before 3 for 4 guaranteed"
    assert found.ahead[0].by == by
    ordered = places_on(lab.partition, lab.systems["a"], lab.now)
    first, second = ordered
    assert [first.recipe_id, second.recipe_id] == [*early, *late]
    assert [each.recipe_id for each in places_on(lab.partition, lab.systems["a"], lab.now, first.key)] == late


def test_recipe__behind_a_queue_with_an_offset__says_so(lab: World) -> None:
    queues(lab, {"name": "a"}, {"name": "b", "priority_offset": 2}, order=PRIORITY)
    submit(lab, "root.default", "a")
    lab.settle()
    late, early = submit(lab, "root.a", "a", priority="High"), submit(lab, "root.b", "a")
    lab.settle()
    host = lab.partition.sets.recipes[late[0]]
    found = why_it_waits(lab.partition, host, WaitingOptions(9)).systems[0]
    assert (found.before, [each.recipe_id for each in found.ahead]) == (1, early)
    assert found.ahead[0].by == "priority of queue root.b before root.a: 5 before 4"


def test_recipe__behind_the_sets_of_a_former_leaf__says_so(lab: World) -> None:
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    submit(lab, "root.a", "ab", count=2)
    lab.settle()
    early = submit(lab, "root.a", "a", priority="Low")
    queues(lab, {"name": "a", "queues": [{"name": "x"}]}, order=FAIR)
    late = submit(lab, "root.a.x", "a", priority="Urgent")
    lab.settle()
    host = lab.partition.sets.recipes[late[0]]
    found = why_it_waits(lab.partition, host, WaitingOptions(9)).systems[0]
    assert (found.before, [each.recipe_id for each in found.ahead]) == (1, early)
    assert found.ahead[0].by == "queue root.a before the queues below it"


def test_recipe__behind_a_job_with_fewer_systems__says_so(lab: World) -> None:
    queues(lab, {"name": "a", "order": FAIR})
    submit(lab, "root.a", "a", job_id=1_001)
    lab.settle()
    late, early = submit(lab, "root.a", "a", job_id=1_001), submit(lab, "root.a", "a", job_id=1_002)
    lab.settle()
    host = lab.partition.sets.recipes[late[0]]
    found = why_it_waits(lab.partition, host, WaitingOptions(9)).systems[0]
    assert (found.before, [each.recipe_id for each in found.ahead]) == (1, early)
    assert found.ahead[0].by == "its job has 0 systems before 1"


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


ONE_LEVEL = [
    {"order": FAIR, "queues": [{"name": "a", "guaranteed": 2}, {"name": "b"}]},
    {"order": PRIORITY, "queues": [{"name": "a", "priority_offset": 1}, {"name": "b", "fence": True}]},
    {"queues": [{"name": "default", "order": FAIR}]},
]


@pytest.mark.parametrize("first", ["within_priority", ALWAYS])
@pytest.mark.parametrize("tree", ONE_LEVEL)
@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_ahead__orders_on_one_level__counts_the_recipes_that_are_asked_before(
    seed: int, tree: dict[str, Any], first: str
) -> None:
    chance, world = Random(seed), history.begin(seed)
    world.configure(queues=tree, order={"assigned_first": first})
    leaves = [f"root.{each['name']}" for each in tree["queues"]]
    for _ in range(12):
        history.burst(chance, world, history.ACTS)
        for _ in range(3):
            fields = {"priority": chance.choice(("Low", "High")), "job_id": chance.randrange(900, 904)}
            world.submit(named(*world.systems), submitted={"queue": chance.choice(leaves)}, **fields)
        world.settle()
    partition, compared = world.partition, 0
    for host in [host for host in partition.sets.recipes.values() if host.state in ("queued", "assigned")]:
        if host.is_guest:
            continue
        ahead = Places(partition, host).before(partition.usable(host))
        for number, count in ahead.items():
            order = [rank.recipe_id for rank in ranks_for_system(partition, partition.system(number))]
            if host.recipe_id in order:
                assert order.index(host.recipe_id) == count
                compared += 1
    assert compared > 20


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
