"""Names and systems that departed, unknown names, and skipped events."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import orjson

from domain.directory import events as directory_events
from domain.directory.events import DirectoryEvent
from domain.events import TOPICS, Recorded, Stamp
from domain.job.events import JobChanged
from domain.requirements.host import HOST
from domain.scheduling.supply.reasons import NO_DISTRO_TREE
from domain.scheduling.world.departed_names import KEPT
from domain.scheduling.world.partition import HELD, Partition
from domain.scheduling.world.skipped_events import SKIPPED_TOPICS
from domain.scheduling.world.snapshot import pieces, restored
from tests.domain.scheduling.contents import snapshot_of
from tests.domain.scheduling.decision_reasons import reasons_to_abort
from tests.domain.scheduling.folded_log import BEGINNING
from tests.domain.scheduling.history import live
from tests.domain.scheduling.host_requirements import ANYTHING, forces
from tests.domain.scheduling.labs import occupy
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.world import World

# The number of users, members, groups and pools, and the number of each within the retention time.
EACH, KEPT_EACH = 5_000, 250


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
    assert world.partition.directory.former_members.has_left("team", "bob")
    assert not world.partition.directory.former_members.has_left("team", "eve")
    world.cancel(waiting)
    world.now += 2 * KEPT
    world.put_group("other", "bob")
    assert not world.partition.directory.former_members.has_left("team", "bob")


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


IN_NEW_POOL = {"element": "pool", "op": "==", "value": "new"}
SECOND = {"element": "hostname", "op": "==", "value": "b"}


def test_recipe__its_pool_is_made_later__takes_a_system_of_the_pool(world: World) -> None:
    world.add_system("b", condition="Broken")
    world.settle()
    recipe = world.submit(HOST.examine({"or": [IN_NEW_POOL, SECOND]}).text)
    world.settle()
    assert world.states(recipe) == ["queued"]
    world.add_system("a", pools=["new"])
    world.settle()
    assert world.states(recipe) == ["waiting"]


def test_recipe__without_the_unknown_pool__takes_any_system(world: World) -> None:
    world.add_system("a")
    world.settle()
    recipe = world.submit(HOST.examine({**IN_NEW_POOL, "op": "!="}).text)
    world.settle()
    assert world.states(recipe) == ["waiting"]


def test_set__forces_an_unknown_system__is_aborted_with_its_name(world: World) -> None:
    world.add_system("a")
    world.settle()
    recipe = world.submit(forces("nowhere"))
    reason = reasons_to_abort(world)[f"recipe/{recipe}"]
    assert reason.endswith('there is no system "nowhere"')


def test_set__no_tree_of_an_unknown_lab_controller__is_aborted_with_its_name(world: World) -> None:
    world.add_system("a")
    world.settle()
    requires = '{"element":"labcontroller","op":"==","value":"lab-9"}'
    recipe = world.submit('{"and":[]}', None, distro_requires=requires)
    reason = reasons_to_abort(world)[f"recipe/{recipe}"]
    assert reason == f'{NO_DISTRO_TREE}: there is no lab controller "lab-9"'


def test_autopick__an_unknown_pool__prefers_nothing(world: World) -> None:
    world.add_system("a")
    world.settle()
    recipe = world.submit('{"and":[]}', autopick_pools=("new",))
    world.settle()
    assert world.states(recipe) == ["waiting"]


def test_skipped_topics__each__changes_no_state() -> None:
    kept = {
        topic
        for topic, cls in TOPICS.items()
        if topic.partition(".")[0] in HELD or issubclass(cls, DirectoryEvent)
    }
    # The scheduler closes open jobs, and so keeps their versions.
    of_open_jobs = {"job.opened", "job.extended", "job.changed", "job.closed", "job.kept", "job.keep-ended"}
    # Nothing that is scheduled depends on what people think of results.
    of_reviews = {"recipe-set.reviewed", "recipe-set.waived", "recipe-set.waiver-ended"}
    assert (set(TOPICS) - kept - of_open_jobs) | of_reviews == SKIPPED_TOPICS


def test_partition__skipped_events_are_not_applied__state_is_the_same() -> None:
    log = live(1, bursts=20, limit=3).log
    changed = JobChanged(whiteboard="", retention_tag="scratch", product=None)
    whole, rest = Partition(), Partition()
    for recorded in log:
        whole.apply(recorded)
        rest.apply(recorded)
    position = log[-1].position + 1
    whole.apply(Recorded(position, position, log[-1].recorded_at, "job/1", 2, changed, log[0].stamp))
    rest.pass_over(position)
    assert rest.position == position
    assert snapshot_of(rest) == snapshot_of(whole)
