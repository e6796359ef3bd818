"""The table of races: preparation, actors and conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from api.use_cases.change_job import cancel_recipe_set, change_priority
from api.use_cases.change_partition import configure_partition, put_job_filter
from api.use_cases.change_policy import change_pool_policy, change_system_policy
from api.use_cases.change_recipe import change_recipe
from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.create_partition import create_partition
from api.use_cases.lend_system import end_loan, lend_system
from api.use_cases.move_system import move_system
from api.use_cases.recover import end_unreported, take_running
from api.use_cases.reserve_system import ReservationRequest, reserve_system
from domain.admission.configuration import Configuration, LimitSection, stored_configuration
from domain.admission.dependencies import RECIPE_SET, Dependency
from domain.admission.job_filters import REJECT, JobFilter
from domain.contention.locks import NO_LOCKS
from domain.directory.partitions import DEFAULT
from domain.errors import Refused
from domain.job.state import folded
from domain.priority import Priority
from domain.recipe_set.messages import ReportCompleted, ReportInstalling, ReportLocks
from domain.system_admin.recovery import Running
from tests.domain.scheduling import policies
from tests.in_process.api_process import ApiProcess
from tests.races import conditions as judging
from tests.races.conditions import Outcome
from tests.races.stage import AWAY, LABS, RULE, RaceStage
from tests.random_histories.jobs import host_requires, job, named, set_of


@dataclass(frozen=True)
class Race:
    """A race. Without `other` the second actor is the scheduler, which answers all triggers."""

    prepare: Callable[[RaceStage], None]
    one: Callable[[RaceStage, ApiProcess], Outcome]
    other: Callable[[RaceStage, ApiProcess], Outcome] | None
    judge: Callable[[RaceStage, Outcome, Outcome], None]


# Preparations


def _new_set(stage: RaceStage) -> None:
    stage.add_system()
    stage.submit()


def _pending_system(stage: RaceStage) -> None:
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


def _half_a_set(stage: RaceStage) -> None:
    """Submit a set that may have its first system now, and its second one later."""
    stage.add_system()
    second = stage.add_system()
    stage.submit(named(second))
    stage.settle()
    stage.submit(named(stage.fqdn), named(second))


def _waiting(stage: RaceStage) -> None:
    _new_set(stage)
    stage.settle()


def _tasks_ended(stage: RaceStage) -> None:
    _waiting(stage)
    stage.run(to_the_end=False)


def _forced(stage: RaceStage) -> None:
    stage.add_system(condition="Manual")
    stage.submit({"force": stage.fqdn})


def _manual(stage: RaceStage) -> None:
    stage.add_system(condition="Manual")


def _lent(stage: RaceStage) -> None:
    """Lend an idle system to ada, and submit a set that wants it; the set stays new."""
    stage.add_system()
    _lend(stage, stage.scene.api)
    stage.submit()


def _lent_alone(stage: RaceStage) -> None:
    stage.add_system()
    _lend(stage, stage.scene.api)


def _in_a_pool(stage: RaceStage) -> None:
    """Put the system into a pool that lets everybody submit; its own policy does not."""
    stage.add_system(owner="bob")
    _own_policy_is_closed(stage)
    stage.open_pool([policies.everybody()])
    stage.submit()


def _in_a_pool_for_a_group(stage: RaceStage) -> None:
    stage.add_system(owner="bob")
    stage.put_group(stage.scene.api, "admin")
    stage.open_pool([policies.group("qa")])
    stage.submit(group="qa")


def _lock_is_held(stage: RaceStage) -> None:
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


def _lock_came_free(stage: RaceStage) -> None:
    """Let a set wait for a lock that comes free; the scheduler has not answered that yet."""
    _lock_is_held(stage)
    stage.settle()
    stage.report(stage.scene.api, ReportCompleted(), recipe_id=stage.holder_id)


def _room_is_taken(stage: RaceStage) -> None:
    """Submit a set to a queue with room for one system, which a recipe with ended tasks has; it stays new."""
    _configure_queue(stage.scene.api, 1)
    stage.add_system()
    stage.submit()
    stage.settle()
    stage.run(to_the_end=False)
    stage.holder_id = stage.recipe_id
    second = stage.add_system()
    stage.names.reverse()
    stage.submit(named(second))


def _all_room_is_taken(stage: RaceStage) -> None:
    """Let a set wait for room in a queue that two recipes with ended tasks have taken."""
    _configure_queue(stage.scene.api, 2)
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


def _another_fits(stage: RaceStage) -> None:
    """Submit a set for the first of two systems; it stays new."""
    stage.add_system()
    stage.add_system()
    stage.submit()


def _installs(stage: RaceStage) -> None:
    """Let a recipe install on the system, and submit a set that wants it; the set stays new."""
    _waiting(stage)
    stage.report(stage.scene.api, ReportInstalling())
    stage.holder_id = stage.recipe_id
    stage.submit()


def _end_is_near(stage: RaceStage) -> None:
    """Run a recipe whose tasks have ended."""
    _tasks_ended(stage)
    stage.holder_id, stage.set_id_of_holder = stage.recipe_id, stage.recipe_set_id


def _own_policy_is_closed(stage: RaceStage) -> None:
    fqdn = stage.fqdn
    stage.scene.api.ask(
        lambda services, request: change_system_policy(services, request, fqdn, [policies.user("ada")], None)
    )


def _beside(prepare: Callable[[RaceStage], None]) -> Callable[[RaceStage], None]:
    """Return the preparation with another partition, which has no lab yet."""

    def prepare_both(stage: RaceStage) -> None:
        stage.scene.api.ask(lambda services, request: create_partition(services, request, AWAY))
        prepare(stage)

    return prepare_both


_beside_another = _beside(_new_set)
_manual_beside_another = _beside(_manual)


# Actors


def _asked(process: ApiProcess, use_case: Any) -> Outcome:
    try:
        return process.ask(use_case)
    except Refused as refused:
        return refused


def _cancel(stage: RaceStage, process: ApiProcess) -> Outcome:
    number = stage.recipe_set_id
    return _asked(process, lambda services, request: cancel_recipe_set(services, request, number, "no use"))


def _change(change: NewSystemValues) -> Callable[[RaceStage, ApiProcess], Outcome]:
    def act(stage: RaceStage, process: ApiProcess) -> Outcome:
        fqdn = stage.fqdn
        return _asked(
            process, lambda services, request: change_system(services, request, fqdn, change, lambda _: None)
        )

    return act


_break = _change(NewSystemValues(condition="Broken", reason="smoke"))
_remove = _change(NewSystemValues(condition="Removed", reason="scrapped"))
_drain = _change(NewSystemValues(draining=True, reason="a fan"))
_move = _change(NewSystemValues(lab_controller="lab-2"))


def _occupy(stage: RaceStage, process: ApiProcess) -> Outcome:
    fqdn = stage.fqdn
    return _asked(
        process, lambda services, request: take_running(services, request, None, fqdn, Running(None))
    )


def _lose(stage: RaceStage, process: ApiProcess) -> Outcome:
    """Register the lab with nothing that runs on the system."""
    fqdn = stage.fqdn
    return _asked(process, lambda services, request: end_unreported(services, request, fqdn, ()))


def _change_requirement(stage: RaceStage, process: ApiProcess) -> Outcome:
    """Let the recipe want the second system instead of the first."""
    log, recipe_id, job_id = stage.scene.log, stage.recipe_id, stage.job_ids[-1]
    found = folded(job_id, log.load({f"job/{job_id}": 0})[f"job/{job_id}"])
    assert found is not None
    (seen,) = found.documents.values()
    wanted = {"host_requires": host_requires(named(stage.names[1]))}
    spec = job([set_of({**seen, "recipes": [{**seen["recipes"][0], **wanted}]})])
    return _asked(
        process,
        lambda services, request: change_recipe(services, request, recipe_id, found, seen, spec),
    )


def _reserve(stage: RaceStage, process: ApiProcess, user: str = "ada") -> Outcome:
    wanted, fqdn = ReservationRequest(user, None, None), stage.fqdn
    return _asked(process, lambda services, request: reserve_system(services, request, fqdn, wanted))


def _lend(stage: RaceStage, process: ApiProcess, user: str = "ada") -> Outcome:
    fqdn = stage.fqdn
    return _asked(process, lambda services, request: lend_system(services, request, fqdn, user, None))


def _end_loan(stage: RaceStage, process: ApiProcess) -> Outcome:
    fqdn = stage.fqdn
    return _asked(process, lambda services, request: end_loan(services, request, fqdn))


def _close_pool(stage: RaceStage, process: ApiProcess) -> Outcome:
    entries = [policies.user("ada")]
    return _asked(
        process, lambda services, request: change_pool_policy(services, request, stage.pool, entries)
    )


def _leave_pool(stage: RaceStage, process: ApiProcess) -> Outcome:
    pool, fqdn = stage.pool, stage.fqdn
    return _asked(process, lambda services, request: move_system(services, request, pool, fqdn, member=False))


def _leave_group(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.put_group(process)


def _urgent(stage: RaceStage, process: ApiProcess) -> Outcome:
    number = stage.recipe_set_id
    return _asked(
        process, lambda services, request: change_priority(services, request, number, Priority.Urgent)
    )


def _installing(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.report(process, ReportInstalling())[0]


def _completed(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.report(process, ReportCompleted())[0]


def _holder_ends(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.report(process, ReportCompleted(), recipe_id=stage.holder_id)[0]


def _holder_narrows(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.report(process, ReportLocks(NO_LOCKS), recipe_id=stage.holder_id)[0]


def _forbid(stage: RaceStage, process: ApiProcess) -> Outcome:
    rule = JobFilter(RULE, 0, 0, None, REJECT)
    change, committed = process.ask(
        lambda services, request: put_job_filter(services, request, DEFAULT, rule)
    )
    assert change.events, "the rule is new"
    return committed


def _limit(stage: RaceStage, process: ApiProcess) -> Outcome:
    none_at_all = Configuration(limits=LimitSection(placed_recipes=0))
    return process.ask(lambda services, request: configure_partition(services, request, DEFAULT, none_at_all))


def _configure_queue(process: ApiProcess, maximum: int) -> Outcome:
    queues = {"queues": [{"name": "default", "max": maximum}]}
    wanted = stored_configuration({"queues": queues})
    return process.ask(lambda services, request: configure_partition(services, request, DEFAULT, wanted))


def _close_queue(stage: RaceStage, process: ApiProcess) -> Outcome:
    return _configure_queue(process, 0)


def _other_holder_ends(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.report(process, ReportCompleted(), recipe_id=stage.other_holder_id)[0]


def _leave_partition(stage: RaceStage, process: ApiProcess) -> Outcome:
    try:
        return stage.name_labs(process, AWAY, LABS[0])
    except Refused as refused:
        return refused


def _submit_dependent(stage: RaceStage, process: ApiProcess) -> Outcome:
    dependency = Dependency(RECIPE_SET, stage.set_id_of_holder, ("completed",))
    return stage.submit(depends_on=(dependency,), process=process)


RACES: Mapping[str, Race] = {
    "end, start with the same lock": Race(_lock_is_held, _holder_ends, None, judging.has_started),
    "narrow, start with the same lock": Race(_lock_is_held, _holder_narrows, None, judging.has_started),
    "cancel, locks": Race(_lock_came_free, _cancel, None, judging.is_cancelled),
    "break, locks": Race(_lock_came_free, _break, None, judging.broken_before_or_after_its_locks),
    "put a rule, first grant": Race(_new_set, _forbid, None, judging.granted_before_the_rule),
    "lower a limit, first grant": Race(_new_set, _limit, None, judging.granted_before_the_rule),
    "lower the maximum of a queue, first grant": Race(
        _new_set, _close_queue, None, judging.granted_before_the_rule
    ),
    "end, first grant in a full queue": Race(_room_is_taken, _holder_ends, None, judging.has_started),
    "cancel, first grant in a full queue": Race(_room_is_taken, _cancel, None, judging.never_started),
    "end, end in a full queue": Race(
        _all_room_is_taken, _holder_ends, _other_holder_ends, judging.has_started
    ),
    "outcome, dependent submitted": Race(_end_is_near, _holder_ends, _submit_dependent, judging.has_started),
    "lab leaves, grant to a new set": Race(_beside_another, _leave_partition, None, judging.granted_or_left),
    "lab leaves, reserve": Race(
        _manual_beside_another, _leave_partition, _reserve, judging.reserved_where_it_is
    ),
    "cancel, grant to a new set": Race(_new_set, _cancel, None, judging.is_cancelled),
    "cancel, grant of a pending system": Race(_pending_system, _cancel, None, judging.is_cancelled),
    "cancel, grant of half a set": Race(_half_a_set, _cancel, None, judging.is_cancelled),
    "remove, grant to a new set": Race(_new_set, _remove, None, judging.removed_and_free),
    "break, grant to a new set": Race(_new_set, _break, None, judging.broken_and_free),
    "break, grant of a pending system": Race(_pending_system, _break, None, judging.broken_and_free),
    "break, grant of half a set": Race(_half_a_set, _break, None, judging.half_is_back),
    "something runs there, grant to a new set": Race(_new_set, _occupy, None, judging.granted_or_occupied),
    "something runs there, grant of a pending system": Race(
        _pending_system, _occupy, None, judging.granted_or_occupied
    ),
    "something runs there, grant of half a set": Race(
        _half_a_set, _occupy, None, judging.granted_or_occupied
    ),
    "change the recipe, grant to a new set": Race(
        _another_fits, _change_requirement, None, judging.granted_as_it_was_or_changed
    ),
    "lab lost the recipe, grant to a new set": Race(_installs, _lose, None, judging.lost_and_granted),
    "drain, grant": Race(_new_set, _drain, None, judging.granted_or_drained),
    "move to another lab, grant": Race(_new_set, _move, None, judging.granted_or_moved),
    "close the pool, grant": Race(_in_a_pool, _close_pool, None, judging.granted_before),
    "leave the pool, grant": Race(_in_a_pool, _leave_pool, None, judging.granted_before),
    "leave the group, grant": Race(_in_a_pool_for_a_group, _leave_group, None, judging.granted_before),
    "reserve, forced grant": Race(_forced, _reserve, None, judging.one_has_it),
    "change priority, start": Race(_new_set, _urgent, None, judging.no_change_after_the_start),
    "cancel, report installing": Race(_waiting, _cancel, _installing, judging.reported_in_time),
    "cancel, report completed": Race(_tasks_ended, _cancel, _completed, judging.ended_once),
    "break, report completed": Race(_tasks_ended, _break, _completed, lambda *_: None),
    "cancel, cancel": Race(_waiting, _cancel, _cancel, judging.cancelled_once),
    "reserve on loan, grant": Race(_lent, _reserve, None, judging.one_has_it),
    "reserve on loan, end of the loan": Race(_lent_alone, _reserve, _end_loan, judging.loan_is_over),
    "lend, reserve": Race(_manual, _lend, partial(_reserve, user="bob"), judging.lent_or_reserved_before),
    "lend, lend": Race(_manual, _lend, partial(_lend, user="bob"), judging.lent_once),
    "reserve, reserve": Race(_manual, _reserve, partial(_reserve, user="bob"), judging.reserved_once),
}

FREQUENT = (
    "cancel, grant to a new set",
    "end, first grant in a full queue",
    "remove, grant to a new set",
    "something runs there, grant to a new set",
    "change the recipe, grant to a new set",
    "lab lost the recipe, grant to a new set",
    "lower the maximum of a queue, first grant",
    "lab leaves, grant to a new set",
    "end, end in a full queue",
)
"""The races about room and partitions, which are played most often."""
