"""The configured order of the partition: after events, after changes, and from a snapshot."""

from __future__ import annotations

from typing import NamedTuple

import orjson
import pytest

from domain.admission.configuration import ALWAYS, WITHIN_PRIORITY, Configuration
from domain.directory.partitions import PARTITION
from domain.scheduling.decisions.decide import decide
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot import pieces, restored
from tests.domain.scheduling.labs import finish, named, occupy, wanting
from tests.domain.scheduling.world import World

ORDERS = (WITHIN_PRIORITY, ALWAYS)


class Contest(NamedTuple):
    """A running recipe on system b, and the two recipes that wait for b."""

    running: int
    urgent: int
    assigned: int


@pytest.fixture
def contest(world: World) -> Contest:
    """An Urgent recipe waits for b, and an assigned one of a Low set that holds a."""
    world.add_idle("a", "b")
    running = occupy(world, "b")["b"]
    urgent = world.submit(named("b"), priority="Urgent")
    world.settle()
    _, assigned = wanting(world, "a", "b", priority="Low")
    assert (world.states(urgent), world.states(assigned)) == (["queued"], ["assigned"])
    return Contest(running, urgent, assigned)


def order_now(world: World, assigned_first: str) -> None:
    world.configure(order={"assigned_first": assigned_first})
    assert world.partition.configuration.order.assigned_first == assigned_first


def winner(contest: Contest, assigned_first: str) -> int:
    return contest.assigned if assigned_first == ALWAYS else contest.urgent


def granted(partition: Partition) -> list[str]:
    """Return the recipes that the next decisions give systems to, and roll the decisions back."""
    decisions = decide(partition, 10)
    partition.rollback()
    events = (event for decision in decisions for event in decision.events)
    return [subject for subject, event in events if event.TOPIC == "recipe.scheduled"]


def test_order__without_an_event__is_within_priority(world: World, contest: Contest) -> None:
    assert world.partition.configuration == Configuration()
    finish(world, contest.running)
    assert world.system_of(contest.urgent) == "b"


@pytest.mark.parametrize("assigned_first", ORDERS)
def test_order__configured_while_recipes_wait__decides_who_is_next(
    world: World, contest: Contest, assigned_first: str
) -> None:
    order_now(world, assigned_first)
    finish(world, contest.running)
    assert world.system_of(winner(contest, assigned_first)) == "b"


@pytest.mark.parametrize("before", ORDERS)
@pytest.mark.parametrize("after", ORDERS)
def test_order__configured_again_before_the_answer__the_last_one_counts(
    world: World, contest: Contest, before: str, after: str
) -> None:
    order_now(world, before)
    world.complete(contest.running)
    # The system is pending.
    order_now(world, after)
    world.settle()
    assert world.system_of(winner(contest, after)) == "b"


def test_order__removed_from_the_document__is_the_default_again(world: World, contest: Contest) -> None:
    order_now(world, ALWAYS)
    world.configure(limits={"placed_recipes": 9})
    assert world.partition.configuration.order.assigned_first == WITHIN_PRIORITY
    finish(world, contest.running)
    assert world.system_of(contest.urgent) == "b"


@pytest.mark.parametrize("assigned_first", ORDERS)
def test_order__of_decisions_that_were_rolled_back__is_that_of_the_log(
    world: World, contest: Contest, assigned_first: str
) -> None:
    order_now(world, assigned_first)
    world.complete(contest.running)
    expected = [f"recipe/{winner(contest, assigned_first)}"]
    assert granted(world.partition) == expected
    # The rollback leaves the configuration as it was.
    assert granted(world.partition) == expected
    # Another commit came first, with another order.
    (other,) = set(ORDERS) - {assigned_first}
    order_now(world, other)
    assert granted(world.partition) == [f"recipe/{winner(contest, other)}"]


@pytest.mark.parametrize("assigned_first", ORDERS)
def test_order__of_a_restored_or_refolded_partition__is_the_same(
    world: World, contest: Contest, assigned_first: str
) -> None:
    for each in (ALWAYS, WITHIN_PRIORITY, assigned_first):
        order_now(world, each)
    world.complete(contest.running)
    copy = restored(orjson.loads(orjson.dumps(piece)) for piece in pieces(world.partition))
    for partition in (world.partition, copy, world.refolded()):
        assert partition.configuration == world.partition.configuration
        assert partition.directory.version(PARTITION) == world.version(PARTITION) >= 2
        assert granted(partition) == [f"recipe/{winner(contest, assigned_first)}"]


def test_order__changed_after_a_snapshot__is_followed(world: World, contest: Contest) -> None:
    order_now(world, ALWAYS)
    world.complete(contest.running)
    copy = restored(orjson.loads(orjson.dumps(piece)) for piece in pieces(world.partition))
    order_now(world, WITHIN_PRIORITY)
    copy.apply(world.log[-1])
    assert granted(copy) == granted(world.partition) == [f"recipe/{contest.urgent}"]


def test_configured__while_nothing_is_free__answers_nothing(world: World, contest: Contest) -> None:
    order_now(world, ALWAYS)
    assert world.settle() == []
