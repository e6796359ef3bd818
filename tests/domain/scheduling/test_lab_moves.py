"""Labs and systems that move between partitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
import pytest

from domain.admission.configuration import Configuration, LimitSection, configuration_to_json
from domain.admission.job_filters import REJECT, JobFilter, job_filter_to_stored
from domain.directory.events import (
    LabControllerPartitionChanged,
    PartitionConfigured,
    PartitionCreated,
    PartitionJobFilterPut,
    PartitionRemoved,
    PartitionStateChanged,
)
from domain.events import Recorded
from domain.intake_states import ACTIVE, STOPPED
from domain.job.spec import RecipeSetSpec
from domain.priority import Priority
from domain.scheduling.decisions.decide import decide
from domain.scheduling.supply.reasons import (
    NO_LAB_HAS_ALL_TREES,
    NO_LAB_HAS_THE_TREE,
    NO_SYSTEM_OF_THE_ARCH,
)
from domain.scheduling.world.lab_moves import states_after
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot import pieces, restored, restored_systems
from domain.system.state import System
from domain.system_admin.inventory import change_owner
from tests.domain.scheduling.contents import contents
from tests.domain.scheduling.decision_reasons import reasons_to_abort
from tests.domain.scheduling.host_requirements import ANYTHING, named
from tests.domain.scheduling.labs import finish
from tests.domain.scheduling.tree_requirements import recipe, submitted
from tests.domain.scheduling.two_partitions import DEFAULT, NOBODYS, OTHER, TwoPartitions, living

OTHERS = OTHER.number


@pytest.fixture
def world() -> TwoPartitions:
    """Two labs of the default partition: lab-1 with a and b, lab-2 with x, all idle."""
    world = TwoPartitions()
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    for lab, systems in {"lab-1": "ab", "lab-2": "x"}.items():
        world.add_lab(lab)
        for fqdn in systems:
            world.add_system(fqdn, lab)
    world.settle_both()
    return world


def submit(world: TwoPartitions, number: int, *names: str) -> int:
    world.turn_to(number)
    return world.submit(named(*names) if names else ANYTHING.text)


def test_lab__moves__its_systems_serve_the_jobs_of_its_new_partition_only(world: TwoPartitions) -> None:
    world.move_lab("lab-1", OTHERS)
    here, there = (submit(world, number, "a", "x") for number in (DEFAULT, OTHERS))
    world.settle_both()
    assert (world.system_of(here), world.system_of(there)) == ("x", "a")


def test_lab__moves_with_its_past__is_as_if_it_had_always_been_there(
    world: TwoPartitions,
) -> None:
    world.describe("a", memory_mb=4_096)
    world.set_pool("gpu", "a", True)
    world.lend("b", "ada")
    world.set_condition("b", "Manual")
    world.fall_silent("lab-1")
    world.move_lab("lab-1", OTHERS)
    other = world.both[OTHERS]
    assert {fqdn: other.systems[fqdn] for fqdn in "ab"} == {fqdn: world.systems[fqdn] for fqdn in "ab"}
    assert (other.has_lab("lab-1"), other.has_lab("lab-2")) == (True, False)
    assert other.directory.is_silent("lab-1")
    waits = submit(world, OTHERS, "a")
    world.settle_both()
    assert world.states(waits) == ["queued"]
    # Its events are those of its new partition now.
    world.hear("lab-1")
    assert world.log[-1].partition == OTHERS
    world.settle_both()
    assert world.system_of(waits) == "a"


def test_lab__comes_back__serves_again(world: TwoPartitions) -> None:
    world.move_lab("lab-1", OTHERS)
    there = submit(world, OTHERS, "a")
    world.settle_both()
    world.turn_to(OTHERS)
    finish(world, there)
    world.describe("b", memory_mb=32_768)
    world.move_lab("lab-1", DEFAULT)
    here, there = (submit(world, number, "a", "b") for number in (DEFAULT, OTHERS))
    world.settle_both()
    assert (world.system_of(here), world.system_of(there)) == ("a", None)
    assert world.both[DEFAULT].systems["b"].inventory["memory_mb"] == 32_768


def test_lab__in_no_partition__serves_nobody_until_it_is_in_one(world: TwoPartitions) -> None:
    world.move_lab("lab-1", OTHERS)
    world.move_lab("lab-1", NOBODYS)
    recipes = [submit(world, number, "a", "b", "x") for number in (OTHERS, DEFAULT, DEFAULT)]
    world.settle_both()
    assert [world.system_of(recipe_id) for recipe_id in recipes] == [None, "x", None]
    world.move_lab("lab-1", DEFAULT)
    world.settle_both()
    assert world.system_of(recipes[2]) in ("a", "b")


def test_lab__moves__wakes_recipes_that_wait_there(world: TwoPartitions) -> None:
    there = submit(world, OTHERS, "a")
    world.settle_both()
    assert world.states(there) != ["waiting"]
    world.move_lab("lab-1", OTHERS)
    world.settle_both()
    second = submit(world, OTHERS, "b")
    world.settle_both()
    assert world.system_of(second) == "b"


def test_system__moves_to_a_lab_of_another_partition__goes_with_it(world: TwoPartitions) -> None:
    world.move_lab("lab-1", OTHERS)
    world.move("x", "lab-1")
    assert world.log[-1].partition == NOBODYS
    here, there = (submit(world, number, "x") for number in (DEFAULT, OTHERS))
    world.settle_both()
    assert (world.system_of(here), world.system_of(there)) == (None, "x")


def test_lab__moves_with_a_pending_system__its_new_partition_decides_for_it(world: TwoPartitions) -> None:
    held = submit(world, DEFAULT, "a")
    world.settle_both()
    world.turn_to(DEFAULT)
    world.complete(held)
    assert world.systems["a"].usage == "pending"
    waits = submit(world, OTHERS, "a")
    world.move_lab("lab-1", OTHERS)
    assert world.both[OTHERS].systems == world.fresh(OTHERS).systems
    world.settle_both()
    assert (world.system_of(waits), world.systems["a"].usage) == ("a", "waiting")
    moved = next(each for each in world.log if each.event.TOPIC == "lab-controller.partition-changed")
    later = (each for each in world.log if each.subject == "system/a" and each.position > moved.position)
    decided = next(later)
    assert (decided.stamp.cause, decided.partition) == (f"event/{moved.position}", OTHERS)


def test_partition__with_the_name_of_a_removed_one__has_none_of_its_rules(world: TwoPartitions) -> None:
    rules = [
        PartitionStateChanged(STOPPED),
        PartitionConfigured(configuration_to_json(Configuration(limits=LimitSection(0)))),
        PartitionJobFilterPut("all", job_filter_to_stored(JobFilter("all", 0, 0, None, REJECT))),
    ]
    world.commit([(OTHER.subject, rule) for rule in rules])
    world.commit([(OTHER.subject, PartitionRemoved())])
    world.commit([(OTHER.subject, PartitionCreated(OTHERS))])
    world.move_lab("lab-1", OTHERS)
    there = submit(world, OTHERS, "a")
    world.settle_both()
    assert world.system_of(there) == "a"
    assert world.both[OTHERS].configuration == Configuration()


def test_commit__about_systems_of_both__each_folds_its_own(world: TwoPartitions) -> None:
    world.move_lab("lab-1", OTHERS)
    before = world.both[DEFAULT].systems["a"], world.both[OTHERS].systems.get("x")
    world.commit([each for fqdn in "ax" for each in change_owner(world.systems[fqdn], "eve")])
    assert world.log[-1].partition == NOBODYS
    assert world.both[OTHERS].systems["a"].owner == world.both[DEFAULT].systems["x"].owner == "eve"
    assert (world.both[DEFAULT].systems["a"], world.both[OTHERS].systems.get("x")) == before


def test_decision_on_a_pending_system__lab_leaves_before_its_commit__is_in_conflict(
    world: TwoPartitions,
) -> None:
    held = submit(world, DEFAULT, "a")
    world.settle_both()
    world.turn_to(DEFAULT)
    world.complete(held)
    decisions = decide(world.partition, 1, world.now)
    world.partition.rollback()
    assert [event.TOPIC for _, event in decisions[0].events] == ["system.idle"]
    world.move_lab("lab-1", OTHERS)
    assert world.in_conflict(decisions)


def test_grant__lab_leaves_before_its_commit__is_in_conflict(world: TwoPartitions) -> None:
    submit(world, DEFAULT, "a")
    decisions = decide(world.partition, 1, world.now)
    world.partition.rollback()
    assert decisions
    world.move_lab("lab-1", OTHERS)
    assert world.in_conflict(decisions)


@pytest.mark.parametrize("seed", range(6))
def test_history__labs_move__states_are_those_of_a_fresh_start(seed: int) -> None:
    moves = 0
    for world in living(seed, bursts=60):
        moves = sum(isinstance(row.event, LabControllerPartitionChanged) for row in world.log)
        holders = [system.recipe_id for system in world.systems.values() if system.recipe_id is not None]
        assert len(holders) == len(set(holders))
    assert moves > 5
    for number, partition in world.both.items():
        fresh = world.fresh(number)
        assert contents(fresh)["sets"] == contents(partition)["sets"]
        assert systems_of(fresh) == systems_of(partition)
        assert systems_of(partition).items() <= world.systems.items()
        plain = [orjson.loads(orjson.dumps(piece)) for piece in pieces(partition)]
        assert between_commits(restored(plain, partition.identity)) == between_commits(partition)
        kept = {system.fqdn: system for system in restored_systems(plain[1:])}
        here = systems_of(partition).items()
        assert {fqdn: system for fqdn, system in here if system.usage != "pending"}.items() <= kept.items()
        assert all(system == folded_to_version(world.log, system) for system in kept.values())


def folded_to_version(log: Iterable[Recorded], system: System) -> System:
    """Return the state of the system after as many of its events as its version says."""
    history = [each for each in log if each.subject == f"system/{system.fqdn}"]
    (state,) = states_after(history[: system.version])
    return state


def between_commits(partition: Partition) -> dict[str, Any]:
    """Return the contents without what only the last commit matters to."""
    return {
        name: each for name, each in contents(partition).items() if name not in ("_commit_end", "_raised")
    }


def systems_of(partition: Partition) -> dict[str, System]:
    systems = partition.systems.items()
    return {fqdn: system for fqdn, system in systems if partition.has_lab(system.lab_controller)}


def test_state__of_another_partition_changes__is_not_its_own(world: TwoPartitions) -> None:
    world.commit([("partition/other", PartitionStateChanged(STOPPED))])
    assert (world.both[DEFAULT].state, world.both[OTHERS].state) == (ACTIVE, STOPPED)


def test_new_set__no_lab_could_serve_it__reason_names_labs_of_its_partition_only(
    world: TwoPartitions,
) -> None:
    world.put_tree(2, "s390x", ["lab-1", "lab-2"])
    world.put_tree(3, "s390x", ["lab-1"])
    world.move_lab("lab-1", OTHERS)
    for number, tree, lab in ((DEFAULT, 2, "lab-2"), (OTHERS, 2, "lab-1"), (DEFAULT, 3, None)):
        world.turn_to(number)
        recipe_id = world.submit(ANYTHING.text, tree)
        reason = NO_LAB_HAS_THE_TREE if lab is None else NO_SYSTEM_OF_THE_ARCH
        where = lab or "no lab of the partition"
        assert reasons_to_abort(world) == {
            f"recipe/{recipe_id}": f"{reason}: {tree} (tree-{tree}) is in {where}"
        }


def test_new_set__lab_with_all_trees_has_left__reason_names_the_remaining_labs(world: TwoPartitions) -> None:
    world.add_lab("lab-3")
    world.add_system("z", "lab-3")
    world.settle_both()
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.put_tree(2, "x86_64", ["lab-1", "lab-3"])
    world.move_lab("lab-1", OTHERS)
    world.turn_to(DEFAULT)
    submitted(world, RecipeSetSpec(Priority.Normal, (recipe(named("x")), recipe(named("z")))), (1, 2))
    details = "recipe 1: 1 (tree-1) is in lab-2; recipe 2: 2 (tree-2) is in lab-3"
    assert set(reasons_to_abort(world).values()) == {f"{NO_LAB_HAS_ALL_TREES}: {details}"}
