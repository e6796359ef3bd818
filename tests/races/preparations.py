"""The preparations of races."""

from __future__ import annotations

from collections.abc import Callable

from api.use_cases.change_policy import change_system_policy
from api.use_cases.create_partition import create_partition
from domain.recipe_set.messages import ReportCompleted, ReportInstalling
from tests.domain.scheduling import policies
from tests.races import actors as acting
from tests.races.stage import AWAY, RaceStage
from tests.random_histories.jobs import named


def new_set(stage: RaceStage) -> None:
    stage.add_system()
    stage.submit()


def pending_system(stage: RaceStage) -> None:
    """Queue the set and let the system come free."""
    stage.add_system()
    stage.submit()
    stage.settle()
    before = stage.recipe_ids
    stage.submit()
    stage.settle()
    queued, stage.recipe_ids = stage.recipe_ids, before
    stage.run(to_the_end=True)
    stage.recipe_ids = queued


def half_a_set(stage: RaceStage) -> None:
    """Submit a set that may have its first system now, and its second one later."""
    stage.add_system()
    second = stage.add_system()
    stage.submit(named(second))
    stage.settle()
    stage.submit(named(stage.fqdn), named(second))


def waiting(stage: RaceStage) -> None:
    new_set(stage)
    stage.settle()


def tasks_ended(stage: RaceStage) -> None:
    waiting(stage)
    stage.run(to_the_end=False)


def forced(stage: RaceStage) -> None:
    stage.add_system(condition="Manual")
    stage.submit({"force": stage.fqdn})


def manual(stage: RaceStage) -> None:
    stage.add_system(condition="Manual")


def lent(stage: RaceStage) -> None:
    """Lend an idle system to ada, and submit a set that wants it; the set stays new."""
    stage.add_system()
    acting.lend(stage, stage.scene.api)
    stage.submit()


def lent_alone(stage: RaceStage) -> None:
    stage.add_system()
    acting.lend(stage, stage.scene.api)


def in_a_pool(stage: RaceStage) -> None:
    """Put the system into a pool that lets everybody submit; its own policy does not."""
    stage.add_system(owner="bob")
    own_policy_is_closed(stage)
    stage.open_pool([policies.everybody()])
    stage.submit()


def in_a_pool_for_a_group(stage: RaceStage) -> None:
    stage.add_system(owner="bob")
    stage.put_group(stage.scene.api, "admin")
    stage.open_pool([policies.group("qa")])
    stage.submit(group="qa")


def lock_is_held(stage: RaceStage) -> None:
    """Submit a set with a lock that a recipe holds, whose tasks have ended; the set stays new."""
    holder = stage.add_system()
    stage.submit(named(holder), locks=stage.lock)
    stage.settle()
    stage.run(to_the_end=False)
    stage.holder_id = stage.recipe_id
    second = stage.add_system()
    # The contested system is the first one.
    stage.names.reverse()
    stage.submit(named(second), locks=stage.lock)


def lock_came_free(stage: RaceStage) -> None:
    """Let a set wait for a lock that comes free; the scheduler has not answered that yet."""
    lock_is_held(stage)
    stage.settle()
    stage.report(stage.scene.api, ReportCompleted(), recipe_id=stage.holder_id)


def room_is_taken(stage: RaceStage) -> None:
    """Submit a set to a queue with room for one system, which a recipe with ended tasks has; it stays new."""
    acting.configure_queue(stage.scene.api, 1)
    stage.add_system()
    stage.submit()
    stage.settle()
    stage.run(to_the_end=False)
    stage.holder_id = stage.recipe_id
    second = stage.add_system()
    stage.names.reverse()
    stage.submit(named(second))


def all_room_is_taken(stage: RaceStage) -> None:
    """Let a set wait for room in a queue that two recipes with ended tasks have taken."""
    acting.configure_queue(stage.scene.api, 2)
    for number in range(2):
        stage.add_system()
        stage.submit(named(stage.names[-1]))
        stage.settle()
        stage.run(to_the_end=False)
        if not number:
            stage.holder_id = stage.recipe_id
    stage.other_holder_id = stage.recipe_id
    third = stage.add_system()
    stage.names.reverse()
    stage.submit(named(third))
    stage.settle()


def another_fits(stage: RaceStage) -> None:
    """Submit a set for the first of two systems; it stays new."""
    stage.add_system()
    stage.add_system()
    stage.submit()


def installs(stage: RaceStage) -> None:
    """Let a recipe install on the system, and submit a set that wants it; the set stays new."""
    waiting(stage)
    stage.report(stage.scene.api, ReportInstalling())
    stage.holder_id = stage.recipe_id
    stage.submit()


def end_is_near(stage: RaceStage) -> None:
    """Run a recipe whose tasks have ended."""
    tasks_ended(stage)
    stage.holder_id, stage.set_id_of_holder = stage.recipe_id, stage.recipe_set_id


def own_policy_is_closed(stage: RaceStage) -> None:
    fqdn = stage.fqdn
    stage.scene.api.ask(
        lambda services, request: change_system_policy(services, request, fqdn, [policies.user("ada")], None)
    )


def beside(prepare: Callable[[RaceStage], None]) -> Callable[[RaceStage], None]:
    """Return the preparation with another partition, which has no lab yet."""

    def prepare_both(stage: RaceStage) -> None:
        stage.scene.api.ask(lambda services, request: create_partition(services, request, AWAY))
        prepare(stage)

    return prepare_both


beside_another = beside(new_set)
manual_beside_another = beside(manual)
