"""Room under maxima of queues follows the turns of queues."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from domain.queues.tree import FAIR, FIFO
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.queue_labs import close, end_one_by_one, queues, submit, used, wake
from tests.domain.scheduling.world import World

K_TICKS = timedelta(minutes=15)


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


def test_room__fair_leaf_beside_a_fifo_leaf__goes_to_the_set_that_is_first_in_the_tree(lab: World) -> None:
    leaves = [{"name": "x", "order": FAIR}, {"name": "y"}]
    queues(lab, {"name": "k", "max": 3, "queues": leaves})
    submit(lab, "root.k.x", "h", job_id=1_001)
    submit(lab, "root.k.y", "g")
    lab.settle()
    close(lab, "a", "b", "c")
    # Pair by pair each one is before the next: old before y, y before young, young before old in the leaf.
    submit(lab, "root.k.x", "a", job_id=1_001)
    of_y = submit(lab, "root.k.y", "c")
    submit(lab, "root.k.x", "b", job_id=1_002)
    lab.settle()
    # The leaf x gives the young one next, which is later than that of y.
    assert wake(lab, "a", "b", "c") == of_y


def test_room__fair_queue_below_a_fifo_parent__goes_to_the_set_that_is_first_in_the_tree(lab: World) -> None:
    k = {"name": "k", "order": FAIR, "queues": [{"name": "x"}, {"name": "y"}]}
    lab.configure(queues={"queues": [k, {"name": "b"}]}, limits={"placed_recipes": 2})
    submit(lab, "root.k.y", "h")
    lab.settle()
    close(lab, "a", "b", "c")
    submit(lab, "root.k.y", "a")
    of_b = submit(lab, "root.b", "b")
    submit(lab, "root.k.x", "c")
    lab.settle()
    assert wake(lab, "a", "b", "c") == of_b


def test_room__old_set_behind_a_young_one_of_its_fair_leaf__is_found_if_the_young_one_gets_no_system(
    lab: World,
) -> None:
    leaves = [{"name": "x", "order": FAIR}, {"name": "y"}]
    queues(lab, {"name": "k", "max": 2, "queues": leaves})
    submit(lab, "root.k.x", "h", job_id=1_001)
    lab.settle()
    close(lab, "a", "c", "d")
    old = submit(lab, "root.k.x", "a", job_id=1_001)
    submit(lab, "root.k.y", "c")
    other = submit(lab, "root.default", "d")
    submit(lab, "root.k.x", "d", job_id=1_002)
    lab.settle()
    assert sorted(wake(lab, "a", "c", "d")) == sorted([*old, *other])
