"""Explanations of turns: who is ahead, how many, and why."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from domain.admission.configuration import ALWAYS
from domain.queues.tree import FAIR, PRIORITY
from domain.scheduling.decisions.system_order import places_for_system
from domain.scheduling.explaining.places import Places, places_on
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from tests.domain.scheduling import history
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.queue_labs import queues, submit
from tests.domain.scheduling.world import World


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
    shares = "0 systems without a guarantee before 3 systems for 4 guaranteed"
    assert found.ahead[0].by == f"fair share of queue root.b before root.a: {shares}"
    ordered = places_on(lab.partition, lab.systems["a"], lab.now)
    first, second = ordered
    assert [first.recipe_id, second.recipe_id] == [*early, *late]
    assert [each.recipe_id for each in places_on(lab.partition, lab.systems["a"], lab.now, first.key)] == late


def test_order_of_a_system__shares_change__is_that_of_the_moment(lab: World) -> None:
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    submit(lab, "root.default", "a")
    lab.settle()
    first, second, other = submit(lab, "root.a", "a"), submit(lab, "root.a", "a"), submit(lab, "root.b", "a")
    lab.settle()

    def order() -> list[int]:
        return [each.recipe_id for each in places_on(lab.partition, lab.systems["a"], lab.now)]

    # A grant to the first recipe would make the third one the next.
    assert order() == [*first, *second, *other]
    submit(lab, "root.a", "b")
    lab.settle()
    assert order() == [*other, *first, *second]


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
            places = places_for_system(partition, partition.system(number))
            order = [place.rank.recipe_id for _, place in places]
            if host.recipe_id in order:
                assert order.index(host.recipe_id) == count
                compared += 1
    assert compared > 20
