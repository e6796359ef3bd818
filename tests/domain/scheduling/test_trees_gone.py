"""Sets wait for a distro tree that has left every lab; after ten minutes they are given up."""

from __future__ import annotations

from datetime import timedelta

import orjson

from domain.scheduling.decisions.decide import decide
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from domain.scheduling.supply.reasons import (
    DISTRO_LEFT,
    NO_ACCESS,
    NO_DISTRO_TREE,
    NO_LAB_FOR_ALL,
    NO_MATCH_HAS_THE_TREE,
    NO_SYSTEM_MATCHES,
    NO_SYSTEM_OF_THE_ARCH,
    SHOWN,
    SIBLING_IMPOSSIBLE,
    SIBLING_TREE_AWAY,
    TREE_AWAY,
)
from domain.scheduling.world.absent_trees import MAX_ABSENCE_SECONDS
from domain.scheduling.world.snapshot import pieces, restored
from tests.domain.scheduling.consistency_loop import tick
from tests.domain.scheduling.decision_reasons import reasons, reasons_to_abort
from tests.domain.scheduling.host_requirements import ANYTHING, named
from tests.domain.scheduling.labs import occupy, wanting
from tests.domain.scheduling.tree_requirements import OWN
from tests.domain.scheduling.world import World

ANY = ANYTHING.text


def test_distro_tree__left_every_lab__waiting_set_is_given_up(world: World) -> None:
    world.put_tree(2, "x86_64", ["lab-1"])
    world.add_idle("a")
    runs = occupy(world, "a")
    first, second = world.submit_set([ANY, ANY][:1], guests={0: [2]})[0], world.submit(ANY)
    world.settle()
    world.remove_tree(2)
    found = tick(world, MAX_ABSENCE_SECONDS)
    left = f"{DISTRO_LEFT}: 2 (tree-2)"
    assert reasons(found.decisions) == {f"recipe/{first}": SIBLING_IMPOSSIBLE, f"recipe/{first + 1}": left}
    assert (found.causes, found.findings.distro_trees_left) == (["timer/distro-tree/2"], 1)
    assert world.states(runs["a"], second) == ["waiting", "queued"]


def test_distro_tree__gone__decision_depends_on_its_version(world: World) -> None:
    # A tree that is registered again while the decision is appended makes the commit a conflict.
    world.add_idle("a")
    world.drain("a")
    world.submit(ANY)
    world.settle()
    world.remove_tree(1)
    (decision,) = tick(world, MAX_ABSENCE_SECONDS).decisions
    assert decision.trigger.cause == "timer/distro-tree/1"
    assert ("distro-tree/1", world.directory.version("distro-tree/1")) in decision.expected


def test_distro_tree__left_one_of_two_labs__set_waits_on(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_idle("a")
    occupy(world, "a")
    waiting = world.submit(ANY)
    world.settle()
    world.put_tree(1, "x86_64", ["lab-2"])
    assert tick(world, MAX_ABSENCE_SECONDS).decisions == []
    assert world.states(waiting) == ["queued"]


def test_distro_tree__left_while_a_set_holds_a_system__lets_go_first_and_is_given_up(world: World) -> None:
    world.add_idle("a", "x")
    runs = occupy(world, "x")
    ids = wanting(world, "a", "x")
    assert world.states(*ids) == ["scheduled", "assigned"]
    world.put_tree(1, "x86_64", [])
    found = tick(world, MAX_ABSENCE_SECONDS)
    assert set(reasons(found.decisions).values()) == {f"{DISTRO_LEFT}: 1 (tree-1)"}
    assert world.states(*ids, runs["x"]) == ["aborted", "aborted", "waiting"]
    assert world.systems["a"].usage == "idle"


def test_distro_tree__left_and_the_set_has_a_custom_distro__waits(world: World) -> None:
    world.add_idle("a")
    occupy(world, "a")
    waiting = world.submit(ANY, None, distro=OWN)
    world.settle()
    world.remove_tree(1)
    assert reasons(tick(world, MAX_ABSENCE_SECONDS).decisions) == {}
    assert world.states(waiting) == ["queued"]


def test_distro_tree__left_and_several_sets_wait_for_it__each_is_given_up_in_order(world: World) -> None:
    world.put_tree(2, "x86_64", ["lab-1"])
    world.add_idle("a")
    occupy(world, "a")
    waiting = [world.submit(want, tree) for want, tree in ((ANY, 2), (named("a"), 1), (named("a"), 2))]
    world.settle()
    world.remove_tree(2)
    found = tick(world, MAX_ABSENCE_SECONDS)
    assert list(reasons(found.decisions)) == [f"recipe/{waiting[0]}", f"recipe/{waiting[2]}"]
    assert world.states(*waiting) == ["aborted", "queued", "aborted"]
    assert tick(world, MAX_ABSENCE_SECONDS).decisions == []


def test_distro_tree__deleted_and_put_again_within_a_turn__no_set_is_given_up(world: World) -> None:
    world.add_idle("a")
    runs = occupy(world, "a")["a"]
    waiting = world.submit(ANY)
    world.settle()
    world.remove_tree(1)
    assert tick(world).decisions == []
    assert tick(world, MAX_ABSENCE_SECONDS - 1).decisions == []
    host = world.partition.sets.recipes[waiting]
    summary = why_it_waits(world.partition, host, WaitingOptions(limit=1)).summary
    assert summary == f"{SHOWN[TREE_AWAY]}: 1 (tree-1)"
    world.put_tree(1, "x86_64", ["lab-1"])
    assert tick(world, 10 * MAX_ABSENCE_SECONDS).decisions == []
    world.complete(runs)
    world.settle()
    assert world.system_of(waiting) == "a"


def test_distro_tree__leaves_twice__is_away_since_the_second_time(world: World) -> None:
    world.add_idle("a")
    occupy(world, "a")
    waiting = world.submit(ANY)
    for _ in range(2):
        world.remove_tree(1)
        assert tick(world, MAX_ABSENCE_SECONDS - 1).decisions == []
        world.put_tree(1, "x86_64", ["lab-1"])
    world.remove_tree(1)
    assert tick(world, MAX_ABSENCE_SECONDS - 1).decisions == []
    assert tick(world, 1).causes == ["timer/distro-tree/1"]
    assert world.states(waiting) == ["aborted"]


def test_distro_tree__removed_by_a_process_that_is_behind__counts_from_its_record(world: World) -> None:
    world.add_idle("a")
    occupy(world, "a")
    waiting = world.submit(ANY)
    world.settle()
    world.now -= timedelta(hours=4)
    world.database_ahead = timedelta(hours=4)
    world.remove_tree(1)
    world.now += timedelta(hours=4)
    world.database_ahead = timedelta()
    assert tick(world).decisions == []
    assert world.states(waiting) == ["queued"]


def test_set__submitted_while_its_tree_is_away__waits_and_starts_when_it_is_back(world: World) -> None:
    world.put_tree(2, "x86_64", ["lab-1"])
    world.add_idle("a", "b")
    world.remove_tree(2)
    world.now += timedelta(seconds=MAX_ABSENCE_SECONDS - 1)
    first, second = world.submit_set([ANY, ANY], guests={0: [2]})
    found = world.settle()
    expected = {
        first: f"{TREE_AWAY}: 2 (tree-2)",
        first + 1: f"{TREE_AWAY}: 2 (tree-2)",
        second: SIBLING_TREE_AWAY,
    }
    assert reasons(found) == {f"recipe/{number}": reason for number, reason in expected.items()}
    assert world.states(first, second) == ["queued", "queued"]
    world.put_tree(2, "x86_64", ["lab-1"])
    world.settle()
    assert world.states(first, second) == ["waiting", "waiting"]


def test_set__submitted_ten_minutes_after_its_tree_left__is_given_up_at_once(world: World) -> None:
    world.add_idle("a")
    world.remove_tree(1)
    world.now += timedelta(seconds=MAX_ABSENCE_SECONDS)
    late = world.submit(ANY)
    world.settle()
    assert world.states(late) == ["aborted"]


def test_set__answered_long_after_it_was_submitted__is_given_up_by_the_loop(world: World) -> None:
    """The scheduler was stopped in between."""
    world.add_idle("a")
    world.remove_tree(1)
    late = world.submit(ANY)
    assert tick(world, MAX_ABSENCE_SECONDS).causes == ["timer/distro-tree/1"]
    assert world.states(late) == ["aborted"]


def test_set__a_sibling_could_never_run__is_given_up_though_a_tree_is_away(world: World) -> None:
    world.add_idle("a", "b")
    world.remove_tree(1)
    first, second = world.submit_set([ANY, ANY], guests={1: [None]})  # type: ignore[list-item]
    found = world.settle()
    assert reasons(found)[f"recipe/{second}"] == NO_DISTRO_TREE
    assert world.states(first, second) == ["aborted", "aborted"]


def test_set__tree_away_and_no_system_matches__is_given_up_with_that_reason(world: World) -> None:
    world.add_idle("a")
    world.remove_tree(1)
    first, second = world.submit_set([ANY, named("nobody")])
    expected = {f"recipe/{first}": SIBLING_IMPOSSIBLE, f"recipe/{second}": NO_SYSTEM_MATCHES}
    assert reasons_to_abort(world) == expected


def test_set__tree_away_and_too_few_systems__is_given_up(world: World) -> None:
    world.add_idle("a")
    world.remove_tree(1)
    world.submit_set([ANY, ANY])
    (reason,) = set(reasons_to_abort(world).values())
    assert reason.startswith(NO_LAB_FOR_ALL)


def test_set__tree_away_and_no_access__is_given_up(world: World) -> None:
    world.add_idle("a")
    world.open_system("a", {"permission": "submit", "user": "bob", "maximum_effective_priority": "Urgent"})
    world.remove_tree(1)
    recipe = world.submit(ANY, owner="ada-2")
    assert reasons_to_abort(world) == {f"recipe/{recipe}": NO_ACCESS}


def test_set__tree_away_is_of_another_architecture__is_given_up(world: World) -> None:
    world.put_tree(2, "s390x", ["lab-1"])
    world.add_idle("a")
    world.remove_tree(2)
    recipe = world.submit(ANY, 2)
    assert reasons_to_abort(world) == {f"recipe/{recipe}": f"{NO_SYSTEM_OF_THE_ARCH}: 2 (tree-2) is in lab-1"}


def test_set__tree_away_was_in_another_lab__is_given_up(world: World) -> None:
    """The set would be given up at once even with the tree."""
    world.add_lab("lab-2")
    world.put_tree(2, "x86_64", ["lab-2"])
    world.add_system("b", lab="lab-2")
    world.add_idle("a")
    world.put_tree(2, "x86_64", [])
    recipe, other = world.submit(named("a"), 2), world.submit(named("b"), 2)
    found = reasons(world.settle())
    assert found == {
        f"recipe/{recipe}": f"{NO_MATCH_HAS_THE_TREE}: 2 (tree-2) is in lab-2",
        f"recipe/{other}": f"{TREE_AWAY}: 2 (tree-2)",
    }


def test_set__tree_away__scheduler_that_begins_with_a_snapshot_gives_up_the_same(world: World) -> None:
    world.put_tree(2, "s390x", ["lab-1"])
    world.add_idle("a")
    world.remove_tree(2)
    world.submit(ANY, 2)
    world.submit(ANY)
    partition = restored(orjson.loads(orjson.dumps(list(pieces(world.partition)))))
    assert [each.events for each in decide(partition, 9)] == [each.events for each in world.decide(9)]


def test_trees_away__scheduler_begins_with_a_snapshot__knows_them(world: World) -> None:
    world.remove_tree(1)
    (head, *rest) = orjson.loads(orjson.dumps(list(pieces(world.partition))))
    partition = restored([head, *rest])
    assert partition.absent_trees.plain() == world.partition.absent_trees.plain() != {}
