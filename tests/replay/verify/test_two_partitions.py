"""The decisions of two partitions are recomputed, each from what its scheduler reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from domain.events import Recorded
from domain.recipe.events import RecipeScheduled
from replay.verify.partitions import PartitionRecomputations
from replay.verify.recomputation import DecisionDifference
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.two_partitions import DEFAULT, OTHER, TwoPartitions, living


def recomputed(
    world: TwoPartitions, *changes: tuple[int, Recorded]
) -> tuple[PartitionRecomputations, list[DecisionDifference]]:
    """Recompute a log in which the events at some positions are replaced."""
    log = [dict(changes).get(row.position, row) for row in world.log]
    fresh = PartitionRecomputations([OTHER], world.history)
    return fresh, list(fresh.take_all(log))


@pytest.mark.parametrize("seed", range(6))
def test_history__of_two_partitions__every_decision_is_the_recorded_one(seed: int) -> None:
    (*_, world) = living(seed, bursts=60)
    fresh, found = recomputed(world)
    assert found == []
    expected = Counter(
        row.stamp.basis.partition
        for row in {(row.commit_end, row.stamp.number): row for row in world.log if row.stamp.basis}.values()
    )
    assert {number: each.counts.decisions for number, each in fresh.of.items()} == expected
    assert min(expected.values()) > 20, "each partition decided"
    assert fresh.counts.decisions == expected.total()
    assert fresh.counts.unchecked == fresh.counts.mended == 0


def two_labs() -> TwoPartitions:
    """Return a world with a in the default partition, and b in the other, which lab-2 joined."""
    world = TwoPartitions()
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    for lab, fqdn in {"lab-1": "a", "lab-2": "b"}.items():
        world.add_lab(lab)
        world.add_system(fqdn, lab)
    world.settle_both()
    world.move_lab("lab-2", OTHER.number)
    return world


def with_three_for_one_system() -> TwoPartitions:
    """Return a world in which two recipes of the other partition wait for b, which comes free."""
    world = two_labs()
    world.turn_to(OTHER.number)
    running = world.submit(named("b"))
    world.settle_both()
    for number, priority in ((DEFAULT, "Urgent"), (OTHER.number, "High"), (OTHER.number, "Low")):
        world.turn_to(number)
        world.submit(named("b"), priority=priority)
        world.settle_both()
    world.turn_to(OTHER.number)
    world.complete(running)
    world.settle_both()
    return world


def last_grant(world: TwoPartitions) -> Recorded:
    return [row for row in world.log if isinstance(row.event, RecipeScheduled)][-1]


def test_more_urgent_recipe__of_another_partition__is_not_in_the_way() -> None:
    world = with_three_for_one_system()
    assert last_grant(world).subject == "recipe/3"
    assert recomputed(world)[1] == []


def test_wrong_decision__of_the_second_partition__differs_there() -> None:
    world = with_three_for_one_system()
    granted = last_grant(world)
    commit = [row for row in world.log if row.commit_end == granted.commit_end]
    changes = {row.position: row for row in commit}
    for row in commit:
        if row.subject == "recipe/3":
            changes[row.position] = row._replace(subject="recipe/4")
        elif hasattr(row.event, "recipe_id"):
            changes[row.position] = row._replace(event=replace(row.event, recipe_id=4))  # type: ignore[type-var]
    fresh, (found,) = recomputed(world, *changes.items())
    assert found.recomputed is not None
    assert {subject for subject, _ in found.recomputed.events} == {"recipe/3", "system/b"}
    assert [each.counts.differences for each in fresh.of.values()] == [0, 1]
    assert fresh.counts.differences == 1


def test_decision__under_the_number_of_the_other_partition__differs() -> None:
    world = two_labs()
    world.turn_to(DEFAULT)
    world.submit(named("a"))
    world.settle_both()
    granted = last_grant(world)
    forged = []
    for row in world.log:
        if row.commit_end == granted.commit_end and row.stamp.basis is not None:
            basis = replace(row.stamp.basis, partition=OTHER.number)
            forged.append(row._replace(stamp=replace(row.stamp, basis=basis), partition=OTHER.number))
    fresh, found = recomputed(world, *((row.position, row) for row in forged))
    assert [(one.recorded is None, one.recomputed) for one in found] == [(False, None)]
    assert fresh.of[OTHER.number].counts.differences == 1


def test_decision__of_a_partition_that_was_never_created__differs() -> None:
    world = with_three_for_one_system()
    decisions = {
        (row.commit_end, row.stamp.number) for row in world.log if row.stamp.basis and row.partition == 2
    }
    fresh = PartitionRecomputations()
    found = list(fresh.take_all(world.log))
    assert {(one.recorded is None, one.recomputed) for one in found} == {(False, None)}
    assert fresh.counts.differences == len(decisions) == len(found) > 0
