"""The audit judges each of two partitions by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.directory.events import (
    LabControllerSilent,
    PartitionConfigured,
    PartitionJobFilterPut,
    PartitionRemoved,
)
from domain.lab_commands.events import CommandRunning
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY
from domain.system.events import SystemLabControllerChanged
from replay.audit import from_recorded
from tests.domain.scheduling.two_partitions import living
from tests.replay.audit.lock_stories import X
from tests.replay.audit.moves import Pair, condition, grant, idle, only, place, queued, rule, start
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.sound import assert_at_rest, assert_sound
from tests.replay.audit.story import Story

HERE, THERE = DEFAULT_NUMBER, 2
LAB_THERE = "lab-2"
POLICY = 6


def two_partitions() -> Story:
    """Return the opening, with lab-2 and its systems c and d in the partition `there`."""
    story = opening()
    story.idle("d", lab=LAB_THERE)
    story.create_partition(THERE, "there")
    story.move_lab(LAB_THERE, THERE, "c", "d")
    return story


def queue(story: Story, partition: int, number: int, *names: str, **beside: str) -> None:
    """Submit a job to a partition, where it gets no system."""
    story.partition = partition
    story.queue(number, {number: only(*names)}, **beside)


def with_c_in_use() -> Story:
    """Return a story in which recipe 4 has c, and these wait for c: 5 here, 6 and 7 there; 6 is before 7."""
    story = two_partitions()
    story.partition = THERE
    story.job(4, {4: only("c")})
    story.decide(place(4, "c", LAB_THERE))
    queue(story, HERE, 5, "c", priority="Urgent")
    queue(story, THERE, 6, "c", priority="High")
    queue(story, THERE, 7, "c", priority="Low")
    story.complete(4, "c")
    return story


@pytest.mark.parametrize("seed", range(8))
def test_history__of_two_partitions_and_labs_that_move__is_sound(seed: int) -> None:
    for world in living(seed, bursts=60):
        log = world.log
    assert_sound(from_recorded(log))
    assert_at_rest(from_recorded(log))


# Comparisons of recipes


def test_more_urgent_recipe__of_another_partition__is_not_jumped() -> None:
    story = with_c_in_use()
    story.decide(place(6, "c", LAB_THERE))
    assert story.violations() == []


def test_recipe__overtaken_in_the_second_partition__is_found() -> None:
    story = with_c_in_use()
    story.decide(place(7, "c", LAB_THERE))
    assert_caught(story, "nobody_jumped", "recipe/7", "recipe/6", "system/c")


def test_system__idle_beside_a_recipe_of_its_partition__is_found() -> None:
    story = with_c_in_use()
    story.decide([idle("c")])
    assert_caught(story, "nobody_overlooked", "recipe/6", "system/c")


@pytest.mark.parametrize(
    ("partition", "found"), [(HERE, []), (THERE, ["no_idle_system_wanted", "no_deadlock"])]
)
def test_at_rest__idle_system__is_wanted_only_by_recipes_of_its_partition(
    partition: int, found: list[str]
) -> None:
    story = two_partitions()
    queue(story, partition, 5, "c")
    assert [each.invariant for each in story.at_rest()] == found


def test_at_rest__pending_system_of_a_lab_in_no_partition__is_left_so() -> None:
    story = two_partitions()
    story.system("e", LAB_THERE)
    assert [each.invariant for each in story.at_rest()] == ["nothing_unanswered"]
    story.move_lab(LAB_THERE, EVERYBODY, "c", "d", "e")
    assert story.at_rest() == []


# Grants


def test_grant__by_the_scheduler_of_the_other_partition__is_found() -> None:
    story = two_partitions()
    story.job(5, {5: only("b")})
    story.partition = THERE
    story.decide(place(5, "b"))
    assert_caught(story, "grants_in_partition", "recipe/5", "system/b", beside=["partition_column"])


def test_grant__of_a_system_of_the_other_partition__is_found() -> None:
    story = two_partitions()
    story.job(5, {5: only("c")})
    story.decide(place(5, "c", LAB_THERE))
    assert_caught(story, "grants_in_partition", "recipe/5", "system/c", beside=["usable_grant"])


def test_grant__of_a_system_of_a_lab_in_no_partition__is_found() -> None:
    story = two_partitions()
    story.move_lab(LAB_THERE, EVERYBODY, "c", "d")
    story.partition = THERE
    story.job(5, {5: only("c")})
    story.decide(place(5, "c", LAB_THERE))
    assert_caught(story, "grants_in_partition", "recipe/5", "system/c", beside=["usable_grant"])


def test_grant__lab_leaves_between_basis_and_commit__is_found() -> None:
    story = two_partitions()
    story.partition = THERE
    story.job(5, {5: only("c")})
    basis = story.end
    story.move_lab(LAB_THERE, HERE, "c", "d")
    story.decide(place(5, "c", LAB_THERE), basis=basis)
    assert_caught(story, "grants_in_partition", "recipe/5", "system/c")


def test_lab__comes_back__its_systems_are_for_its_partition_again() -> None:
    story = two_partitions()
    story.move_lab(LAB_THERE, HERE, "c", "d")
    story.job(5, {5: only("c")})
    story.decide(place(5, "c", LAB_THERE))
    queue(story, THERE, 6, "d")
    assert story.violations() == []
    assert story.at_rest() == []


# Rules


def test_locks__of_two_partitions__do_not_conflict() -> None:
    story = two_partitions()
    story.job(5, {5: only("b")}, locks=X)
    story.batch(place(5, "b", locks=X))
    story.partition = THERE
    story.job(6, {6: only("c")}, locks=X)
    story.batch(place(6, "c", LAB_THERE, locks=X))
    assert story.violations() == []
    story.job(7, {7: only("d")}, locks=X)
    story.batch(place(7, "d", LAB_THERE, locks=X))
    assert_caught(story, "no_conflicting_locks", "recipe/7", beside=None)


def limited(partition: str, maximum: int) -> Pair:
    return f"partition/{partition}", PartitionConfigured({"limits": {"placed_recipes": maximum}})


@pytest.mark.parametrize(("name", "is_found"), [("default", False), ("there", True)])
def test_limit__of_one_partition__binds_there_only(name: str, is_found: bool) -> None:
    story = two_partitions()
    story.commit(limited(name, 1))
    story.partition = THERE
    for number, fqdn in ((5, "c"), (6, "d")):
        story.job(number, {number: only(fqdn)})
        story.batch(place(number, fqdn, LAB_THERE))
    names = {each.invariant for each in story.violations()}
    assert ("admitted" in names) == is_found
    assert is_found or not names


def paused(name: str) -> Pair:
    _, event = rule("all", "PAUSE")
    assert isinstance(event, PartitionJobFilterPut)
    return f"partition/{name}", event


@pytest.mark.parametrize(("name", "is_found"), [("default", False), ("there", True)])
def test_job_filter__of_one_partition__holds_back_there_only(name: str, is_found: bool) -> None:
    story = two_partitions()
    story.commit(paused(name))
    story.partition = THERE
    story.job(5, {5: only("c")})
    story.batch(place(5, "c", LAB_THERE))
    names = {each.invariant for each in story.violations()}
    assert names == ({"admitted"} if is_found else set())


def test_configuration__of_a_partition_created_before_its_first_job__is_in_force() -> None:
    story = two_partitions()
    story.create_partition(3, "later")
    story.commit(limited("later", 1))
    story.move_lab("lab-1", 3, "a", "b", "m")
    story.move_lab(LAB_THERE, 3, "c", "d")
    story.partition = 3
    story.job(5, {5: only("c")})
    story.batch(place(5, "c", LAB_THERE))
    assert story.violations() == []
    story.job(6, {6: only("d")})
    story.batch(place(6, "d", LAB_THERE))
    assert "admitted" in {each.invariant for each in story.violations()}


def test_configuration__of_a_removed_partition__is_not_that_of_the_next_with_its_name() -> None:
    story = two_partitions()
    story.commit(limited("there", 1))
    story.commit(paused("there"))
    story.move_lab(LAB_THERE, EVERYBODY, "c", "d")
    story.commit(("partition/there", PartitionRemoved()))
    story.create_partition(3, "there")
    story.move_lab(LAB_THERE, 3, "c", "d")
    story.partition = 3
    for number, fqdn in ((5, "c"), (6, "d")):
        story.job(number, {number: only(fqdn)})
        story.batch(place(number, fqdn, LAB_THERE))
    assert story.violations() == []


# The column


def found(story: Story) -> list[str]:
    return [each.what for each in story.violations() if each.invariant == "partition_column"]


Change = Callable[[Story, int], None]


def describes_c(story: Story, partition: int) -> None:
    story.commit(condition("c", "Manual"), partition=partition)


def hears_nothing(story: Story, partition: int) -> None:
    story.commit((f"lab-controller/{LAB_THERE}", LabControllerSilent()), partition=partition)


def changes_a_set(story: Story, partition: int) -> None:
    queue(story, THERE, 5, "c")
    story.commit(queued(5), partition=partition)


def runs_a_command(story: Story, partition: int) -> None:
    story.partition = THERE
    story.job(5, {5: only("c")})
    story.decide(place(5, "c", LAB_THERE))
    story.commit((f"command/{story.end}", CommandRunning()), partition=partition)


@pytest.mark.parametrize("partition", [EVERYBODY, HERE, THERE])
@pytest.mark.parametrize("change", [describes_c, hears_nothing, changes_a_set, runs_a_command])
def test_column__event_of_the_second_partition__must_have_its_number(change: Change, partition: int) -> None:
    story = two_partitions()
    change(story, partition)
    assert bool(found(story)) == (partition != THERE)


@pytest.mark.parametrize("partition", [EVERYBODY, HERE, THERE])
@pytest.mark.parametrize("change", [describes_c, hears_nothing])
def test_column__event_of_a_lab_in_no_partition__must_have_0(change: Change, partition: int) -> None:
    story = two_partitions()
    story.move_lab(LAB_THERE, EVERYBODY, "c", "d")
    change(story, partition)
    assert bool(found(story)) == (partition != EVERYBODY)


@pytest.mark.parametrize("partition", [EVERYBODY, HERE, THERE])
@pytest.mark.parametrize("lab", ["lab-1", "lab-3"])
def test_column__system_that_moves_to_a_lab__must_have_0_between_partitions(lab: str, partition: int) -> None:
    story = two_partitions()
    story.labs("lab-3")
    story.commit(("system/b", SystemLabControllerChanged(LAB_THERE)), partition=EVERYBODY)
    story.commit(("system/b", SystemLabControllerChanged(lab)), partition=EVERYBODY)
    assert found(story) == []
    other = "lab-3" if lab == "lab-1" else "lab-1"
    story.commit(("system/b", SystemLabControllerChanged(other)), partition=partition)
    assert bool(found(story)) == (partition != HERE)


def test_column__events_of_two_partitions_in_one_commit__must_have_0() -> None:
    story = two_partitions()
    story.commit(condition("b", "Manual"), condition("c", "Manual"), partition=EVERYBODY)
    assert found(story) == []
    story.commit(condition("b", "Automated"), condition("c", "Automated"), partition=THERE)
    (what,) = found(story)
    assert "concerns all" in what


def test_column__partition_that_was_never_created__is_found() -> None:
    story = opening()
    story.partition = 7
    story.job(5, {5: only("x")})
    assert any("never created" in what for what in found(story))


def test_job__submitted_into_a_removed_partition__is_found() -> None:
    story = two_partitions()
    story.partition = THERE
    story.job(5, {5: only("c")})
    assert found(story) == []
    story.commit(("partition/there", PartitionRemoved()), partition=EVERYBODY)
    story.job(6, {6: only("c")})
    (what,) = found(story)
    assert "which does not exist" in what


def test_decision__because_of_an_event_of_another_partition__is_found() -> None:
    story = two_partitions()
    story.job(5, {5: only("b")})
    position = story.end
    story.partition = THERE
    story.job(6, {6: only("c")})
    story.decide([queued(6)], cause=f"event/{position}")
    assert any(f"its cause event/{position} to {HERE}" in what for what in found(story))


def test_grant__of_one_set_in_two_partitions__is_found() -> None:
    story = two_partitions()
    story.job(5, {5: only("b"), 6: only("c")})
    story.decide([*grant(5, "b"), *grant(6, "c", LAB_THERE), *start(5, "b"), *start(6, "c")])
    assert_caught(story, "grants_in_partition", "recipe/6", "system/c", beside=None)
