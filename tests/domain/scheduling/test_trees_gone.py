"""The consistency loop gives up the sets that wait for a distro tree which has left every lab."""

from __future__ import annotations

from domain.scheduling.reasons import DISTRO_LEFT, SIBLING_IMPOSSIBLE
from tests.domain.scheduling.given_reasons import reasons
from tests.domain.scheduling.labs import occupy, wanting
from tests.domain.scheduling.ticking import tick
from tests.domain.scheduling.tree_wants import OWN
from tests.domain.scheduling.wants import ANYTHING, named
from tests.domain.scheduling.world import World

ANY = ANYTHING.text


def test_distro_tree__left_every_lab__waiting_set_is_given_up(world: World) -> None:
    world.put_tree(2, "x86_64", ["lab-1"])
    world.add_idle("a")
    runs = occupy(world, "a")
    first, second = world.submit_set([ANY, ANY][:1], guests={0: [2]})[0], world.submit(ANY)
    world.settle()
    world.remove_tree(2)
    found = tick(world)
    # Its name went with it.
    left = f"{DISTRO_LEFT}: 2"
    assert reasons(found.decisions) == {f"recipe/{first}": SIBLING_IMPOSSIBLE, f"recipe/{first + 1}": left}
    assert (found.causes, found.findings.distro_trees_left) == (["timer/distro-tree/2"], 1)
    assert world.states(runs["a"], second) == ["waiting", "queued"]


def test_distro_tree__left_one_of_two_labs__set_waits_on(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_idle("a")
    occupy(world, "a")
    waiting = world.submit(ANY)
    world.settle()
    world.put_tree(1, "x86_64", ["lab-2"])
    assert tick(world).decisions == []
    assert world.states(waiting) == ["queued"]


def test_distro_tree__left_while_a_set_holds_a_system__lets_go_first_and_is_given_up(world: World) -> None:
    world.add_idle("a", "x")
    runs = occupy(world, "x")
    ids = wanting(world, "a", "x")
    assert world.states(*ids) == ["scheduled", "assigned"]
    world.put_tree(1, "x86_64", [])
    found = tick(world)
    assert set(reasons(found.decisions).values()) == {f"{DISTRO_LEFT}: 1 (tree-1)"}
    assert world.states(*ids, runs["x"]) == ["aborted", "aborted", "waiting"]
    assert world.systems["a"].usage == "idle"


def test_distro_tree__left_and_the_set_brings_a_distro_of_its_own__waits_on(world: World) -> None:
    world.add_idle("a")
    occupy(world, "a")
    waiting = world.submit(ANY, None, distro=OWN)
    world.settle()
    world.remove_tree(1)
    assert reasons(tick(world).decisions) == {}
    assert world.states(waiting) == ["queued"]


def test_distro_tree__left_and_several_sets_wait_for_it__each_is_given_up_in_order(world: World) -> None:
    world.put_tree(2, "x86_64", ["lab-1"])
    world.add_idle("a")
    occupy(world, "a")
    waiting = [world.submit(want, tree) for want, tree in ((ANY, 2), (named("a"), 1), (named("a"), 2))]
    world.settle()
    world.remove_tree(2)
    found = tick(world)
    assert list(reasons(found.decisions)) == [f"recipe/{waiting[0]}", f"recipe/{waiting[2]}"]
    assert world.states(*waiting) == ["aborted", "queued", "aborted"]
    assert tick(world).decisions == []
