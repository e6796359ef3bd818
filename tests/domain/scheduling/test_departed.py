"""A scheduler drops departed names that are not in use, without an effect on decisions."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import orjson

from domain.directory import events as directory_events
from domain.events import Recorded, Stamp
from domain.scheduling.world.departed_names import KEPT
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot import pieces, restored
from tests.domain.scheduling.folded_log import BEGINNING
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.labs import occupy
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.world import World

# The number of users, members, groups and pools, and the number of each within the retention time.
EACH, KEPT_EACH = 25_000, 250


def test_names__many_used_once__dropped() -> None:
    partition, versions, now = Partition(), Counter[str](), BEGINNING
    for number in range(EACH):
        now += KEPT / KEPT_EACH
        for subject, event in used_once(number):
            versions[subject] += 1
            position = partition.position + 1
            stamp = Stamp(now, "admin", "request/1")
            partition.apply(Recorded(position, position, now, subject, versions[subject], event, stamp))
    directory = partition.directory.plain()
    for kind in ("user", "group", "pool"):
        assert len(directory["entries"][kind]) <= KEPT_EACH + 2
    assert sum(map(len, directory["leavers"].values())) <= 2 * (KEPT_EACH + 1)
    assert len(partition.departed_names.plain()) <= 5 * (KEPT_EACH + 1)


def used_once(number: int) -> list[tuple[str, directory_events.DirectoryEvent]]:
    user, group, pool = f"user/u{number}", f"group/g{number}", f"pool/p{number}"
    return [
        (user, directory_events.UserRegistered(("submitter",), None)),
        ("group/all", directory_events.GroupChanged(owners=[], members=[f"u{number}"])),
        (group, directory_events.GroupRegistered(owners=[], members=[f"u{number}"])),
        (group, directory_events.GroupRemoved()),
        (pool, directory_events.PoolRegistered(owner_group=None)),
        (pool, directory_events.PoolRemoved()),
        (user, directory_events.UserRemoved()),
    ]


def test_access__many_borrowers_one_after_another__classes_keep_none_of_them(world: World) -> None:
    world.add_idle("a", "b")
    occupy(world, "a", "b")
    world.open_system("a", everybody("Urgent"))
    for number in range(200):
        world.lend("b", f"u{number}")
        world.cancel(submitted(world, f"u{number}"))
        world.end_loan("b")
        world.settle()
    access = world.partition.labs.access
    assert sum(len(maxima) for maxima in access._maxima.values()) < 10


def submitted(world: World, owner: str) -> int:
    recipe_id = world.submit(ANYTHING.text, owner=owner)
    world.settle()
    return recipe_id


def test_removed_group__has_unfinished_recipe__kept(world: World) -> None:
    world.add_idle("a")
    occupy(world, "a")
    world.open_system("a", group("team"))
    world.put_group("team", "bob")
    waiting = world.submit(ANYTHING.text, owner="bob", group="team")
    world.settle()
    world.remove_group("team")
    for _ in range(3):
        world.now += 2 * KEPT
        world.put_group("other", "eve")
        assert not world.partition.directory.counts_for_group("team", "bob")
    world.cancel(waiting)
    world.now += 2 * KEPT
    world.put_group("other", "bob")
    assert list(world.partition.directory.plain()["entries"]["group"]) == ["other"]


def test_former_member__has_unfinished_recipe_for_the_group__kept(world: World) -> None:
    world.add_idle("a")
    occupy(world, "a")
    world.put_group("team", "bob", "eve")
    waiting = world.submit(ANYTHING.text, owner="bob", group="team")
    world.settle()
    world.put_group("team")
    world.now += 2 * KEPT
    world.put_group("other")
    assert world.partition.directory.has_left("team", "bob")
    assert not world.partition.directory.has_left("team", "eve")
    world.cancel(waiting)
    world.now += 2 * KEPT
    world.put_group("other", "bob")
    assert not world.partition.directory.has_left("team", "bob")


def test_name__registered_again__kept_with_its_version(world: World) -> None:
    world.put_group("team", "bob")
    world.remove_group("team")
    world.now += KEPT - timedelta(seconds=1)
    world.commit([("group/team", directory_events.GroupRegistered(owners=[], members=["bob"]))])
    world.now += 2 * KEPT
    world.put_group("other")
    entry = world.partition.directory.get("group", "team")
    assert entry is not None and entry.version == world.version("group/team") == 3


def test_departed__restored_from_snapshot__drops_the_same_names(world: World) -> None:
    world.put_group("team", "bob")
    world.remove_group("team")
    partition = restored(orjson.loads(orjson.dumps(list(pieces(world.partition)))))
    assert orjson.dumps(partition.departed_names.plain()) == orjson.dumps(
        world.partition.departed_names.plain()
    )
