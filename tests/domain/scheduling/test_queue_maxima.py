"""Maxima of queues: what counts under them, who gets room that comes free, and stopped queues."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from replay.audit import from_recorded
from tests.domain.scheduling.contents import check_indexes
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import finish
from tests.domain.scheduling.policies import everybody, user
from tests.domain.scheduling.world import World
from tests.replay.audit.sound import assert_at_rest, assert_sound

NAMES = "abcdefgh"
K_TICKS = timedelta(minutes=15)


@pytest.fixture
def lab(world: World) -> World:
    world.add_idle(*NAMES)
    return world


def queues(lab: World, *children: dict[str, Any], **root: Any) -> None:
    lab.configure(queues={**root, "queues": list(children)})
    lab.settle()


def begin(lab: World, fqdn: str, queue: str | None = None, **new: Any) -> int:
    recipe_id = lab.submit(named(*fqdn), submitted={"queue": queue}, **new)
    lab.settle()
    return recipe_id


def begin_set(lab: World, fqdns: str, queue: str | None, **new: Any) -> tuple[int, ...]:
    recipe_ids = lab.submit_set([named(fqdn) for fqdn in fqdns], submitted={"queue": queue}, **new)
    lab.settle()
    return recipe_ids


def reason_of(lab: World, recipe_id: int) -> str:
    return [
        each.event.reason
        for each in lab.log
        if each.subject == f"recipe/{recipe_id}" and hasattr(each.event, "reason")
    ][-1]


NET = {"name": "net", "max": 2}
STORAGE = {"name": "storage", "max": 2}


@pytest.mark.parametrize(
    ("tree", "queue_of", "reason"),
    [
        # On the leaf.
        ([NET], ["root.net"] * 3, "max 2 systems in queue root.net"),
        # On a parent alone.
        (
            [{"name": "kernel", "max": 2, "queues": [{"name": "net"}, {"name": "storage"}]}],
            ["root.kernel.net", "root.kernel.storage", "root.kernel.storage"],
            "max 2 systems in queue root.kernel",
        ),
        # By user and by group, on any level.
        (
            [{"name": "net", "limits": [{"user": "*", "max": 2}]}],
            ["root.net"] * 3,
            "max 2 systems of user ada in queue root.net",
        ),
        (
            [{"name": "a", "limits": [{"group": "qa", "max": 2}], "queues": [{"name": "b"}]}],
            ["root.a.b"] * 3,
            "max 2 systems of group qa in queue root.a",
        ),
        # By the template of a dynamic queue.
        (
            [{"name": "people", "template": {"max": 2}, "queues": []}],
            ["root.people.ada"] * 3,
            "max 2 systems in queue root.people.ada",
        ),
        ([{"name": "net", "max_jobs": 2}], ["root.net"] * 3, "max 2 jobs in queue root.net"),
    ],
)
def test_maximum__reached_exactly__the_next_waits_until_one_ends(
    lab: World, tree: list[dict[str, Any]], queue_of: list[str], reason: str
) -> None:
    queues(lab, *tree)
    lab.put_group("qa", "ada")
    first, second, third = (
        begin(lab, fqdn, queue, group="qa") for fqdn, queue in zip("abc", queue_of, strict=True)
    )
    assert lab.states(first, second, third) == ["waiting", "waiting", "queued"]
    assert reason_of(lab, third) == f"no room under a limit: {reason}"
    # Freed room is used without a new submission.
    finish(lab, first)
    assert lab.states(third) == ["waiting"]
    check_indexes(lab.partition)


def test_limit__of_each_user__counts_each_apart_and_a_named_one_by_its_own(lab: World) -> None:
    limits = [{"user": "*", "max": 1}, {"user": "eve", "max": 2}]
    queues(lab, {"name": "net", "limits": limits})
    recipes = [begin(lab, fqdn, "root.net", owner=owner) for fqdn, owner in zip("abcde", USERS, strict=True)]
    assert lab.states(*recipes) == ["waiting", "queued", "waiting", "waiting", "queued"]


USERS = ("ada", "ada", "eve", "eve", "eve")


def test_jobs__of_two_sets__count_once_from_the_first_grant_to_the_last_end(lab: World) -> None:
    queues(lab, {"name": "net", "max_jobs": 1})
    of_job = [begin(lab, fqdn, "root.net", job_id=1) for fqdn in "aab"]
    other = begin(lab, "c", "root.net", job_id=9)
    # The second waits for a system, not for room; the third needs no room of its own.
    assert lab.states(*of_job, other) == ["waiting", "queued", "waiting", "queued"]
    check_indexes(lab.partition)
    finish(lab, of_job[2])
    assert lab.states(other) == ["queued"]
    finish(lab, of_job[0])
    assert lab.states(of_job[1], other) == ["waiting", "queued"]
    finish(lab, of_job[1])
    assert lab.states(other) == ["waiting"]
    check_indexes(lab.partition)


def test_set__of_two__is_charged_as_a_whole(lab: World) -> None:
    queues(lab, {"name": "net", "max": 3})
    begin_set(lab, "ab", "root.net")
    pair, single = begin_set(lab, "cd", "root.net"), begin(lab, "e", "root.net")
    assert lab.states(*pair, single) == ["queued", "queued", "waiting"]


def test_larger_set__has_waited_k_ticks__the_room_of_its_queue_is_kept(lab: World) -> None:
    queues(lab, {"name": "net", "max": 2})
    first, second = begin(lab, "a", "root.net"), begin(lab, "b", "root.net")
    pair = begin_set(lab, "cd", "root.net")
    lab.now += K_TICKS
    later, elsewhere = begin(lab, "e", "root.net"), begin(lab, "f")
    finish(lab, first)
    assert lab.states(*pair, later, elsewhere) == ["queued", "queued", "queued", "waiting"]
    options = WaitingOptions(limit=5)
    host = lab.partition.sets.recipes[later]
    (held,) = why_it_waits(lab.partition, host, options).held_back
    assert (held.row, held.reason) == (
        "queue",
        "the room is kept for a set that has waited long for more of it",
    )
    finish(lab, second)
    assert lab.states(*pair, later) == ["waiting", "waiting", "queued"]


def test_last_room_of_a_parent__asked_by_a_later_set__goes_to_the_first_by_priority(lab: World) -> None:
    busy = [begin(lab, fqdn) for fqdn in "ab"]
    queues(lab, {"name": "k", "max": 1, "queues": [{"name": "net"}, {"name": "storage"}]})
    low = begin(lab, "a", "root.k.net", priority="Low")
    high = begin(lab, "b", "root.k.storage", priority="High")
    # Both systems are pending at once: a is asked first.
    for recipe_id in busy:
        lab.complete(recipe_id)
    lab.settle()
    assert lab.states(low, high) == ["queued", "waiting"]


def test_maximum__lowered_below_what_is_used__ends_nothing(lab: World) -> None:
    queues(lab, {"name": "net", "max": 3})
    running = [begin(lab, fqdn, "root.net") for fqdn in "abc"]
    queues(lab, {"name": "net", "max": 1})
    waiting = begin(lab, "d", "root.net")
    assert lab.states(*running, waiting) == ["waiting"] * 3 + ["queued"]
    for recipe_id in running[:2]:
        finish(lab, recipe_id)
        assert lab.states(waiting) == ["queued"]
    finish(lab, running[2])
    assert lab.states(waiting) == ["waiting"]


def test_queue__vanishes_with_jobs__keeps_its_maximum(lab: World) -> None:
    queues(lab, NET)
    recipes = [begin(lab, fqdn, "root.net") for fqdn in "abc"]
    queues(lab)
    assert lab.states(*recipes) == ["waiting", "waiting", "queued"]
    finish(lab, recipes[0])
    assert lab.states(recipes[2]) == ["waiting"]
    queues(lab, {"name": "net", "max": 3})
    assert lab.states(begin(lab, "d", "root.net"), begin(lab, "e", "root.net")) == ["waiting", "queued"]


def test_maximum__raised_or_removed__frees_what_it_held_back(lab: World) -> None:
    queues(lab, NET, STORAGE)
    recipes = [begin(lab, fqdn, "root.net") for fqdn in "abcde"]
    queues(lab, {"name": "net", "max": 3}, STORAGE)
    assert lab.states(*recipes) == ["waiting"] * 3 + ["queued"] * 2
    queues(lab, {"name": "net"}, STORAGE)
    assert lab.states(*recipes) == ["waiting"] * 5


@pytest.mark.parametrize("closed", ["root.k.net", "root.k"])
def test_queue__stopped_here_or_above__starts_nothing_until_it_is_active(lab: World, closed: str) -> None:
    def kernel(state: str) -> dict[str, Any]:
        net = {"name": "net", **({"state": state} if closed == "root.k.net" else {})}
        return {"name": "k", "queues": [net], **({"state": state} if closed == "root.k" else {})}

    queues(lab, kernel("active"))
    begin_set(lab, "ab", "root.k.net")
    # It holds one of its systems, so it gets the other one.
    holding = begin_set(lab, "bc", "root.k.net")
    queues(lab, kernel("stopped"))
    stopped, other = begin(lab, "d", "root.k.net"), begin(lab, "e", "root.k.net")
    assert lab.states(stopped, begin(lab, "f")) == ["queued", "waiting"]
    assert reason_of(lab, stopped) == f"held back by the stopped queue {closed}"
    check_indexes(lab.partition)
    queues(lab, kernel("active"))
    assert lab.states(stopped, other) == ["waiting", "waiting"]
    assert lab.states(*holding)[1] == "scheduled"


def test_queue__draining__finishes_what_is_there(lab: World) -> None:
    queues(lab, NET)
    recipes = [begin(lab, fqdn, "root.net") for fqdn in "abc"]
    queues(lab, {**NET, "state": "draining"})
    finish(lab, recipes[0])
    assert lab.states(recipes[2]) == ["waiting"]


def test_wake_up__charges_a_job__its_other_sets_are_considered_in_their_new_class(lab: World) -> None:
    def both(state: str) -> None:
        queues(lab, {"name": "net", "max": 5, "max_jobs": 2, "state": state}, {"name": "low", "state": state})

    both("stopped")
    of_job = [begin(lab, fqdn, "root.net", job_id=7, priority="High") for fqdn in "ab"]
    low = begin(lab, "b", "root.low", priority="Low")
    both("active")
    assert lab.states(*of_job, low) == ["waiting", "waiting", "queued"]


@pytest.mark.parametrize("placed", [None, 2])
def test_larger_set__lacks_room_on_several_levels__the_room_of_all_is_kept(
    lab: World, placed: int | None
) -> None:
    tree = {"queues": [{"name": "k", "max": 2, "queues": [NET]}]}
    lab.configure(queues=tree, limits={"placed_recipes": placed})
    running = [begin(lab, fqdn, "root.k.net") for fqdn in "ab"]
    pair = begin_set(lab, "cd", "root.k.net")
    lab.now += K_TICKS
    later = [begin(lab, fqdn, "root.k.net") for fqdn in "ef"]
    for recipe_id in running:
        finish(lab, recipe_id)
    assert lab.states(*pair, *later) == ["waiting", "waiting", "queued", "queued"]
    assert_sound(list(from_recorded(lab.log)))


def test_room__kept_for_two_sets_under_two_limits__is_kept_from_all_behind_the_first(lab: World) -> None:
    # On e, eve comes before ada; the room of k is kept for the first set, that of net for the second.
    lab.open_system("e", user("eve", "Normal"), everybody("Low"))
    queues(lab, {"name": "k", "max": 4, "queues": [{"name": "net", "max": 2}, {"name": "other"}]})
    begin(lab, "a", "root.k.net")
    begin(lab, "b", "root.k.other")
    busy = begin(lab, "e")
    first = begin_set(lab, "cdf", "root.k.other")
    between = begin(lab, "e", "root.k.net")
    second = begin_set(lab, "gh", "root.k.net")
    lab.now += K_TICKS
    last = begin(lab, "e", "root.k.net", owner="eve")
    finish(lab, busy)
    assert lab.states(*first, between, *second, last) == ["queued"] * 7
    assert_sound(list(from_recorded(lab.log)))


def test_grant__takes_placed_room_of_a_kept_set__overlooks_nobody(lab: World) -> None:
    lab.configure(queues={"queues": [NET]}, limits={"placed_recipes": 3})
    begin(lab, "a", "root.net")
    pair = begin_set(lab, "bc", "root.net")
    lab.now += K_TICKS
    waiting, elsewhere = begin(lab, "e", "root.net"), begin(lab, "f")
    assert lab.states(*pair, waiting, elsewhere) == ["queued", "queued", "queued", "waiting"]
    records = list(from_recorded(lab.log))
    assert_sound(records)
    assert_at_rest(records)
