"""The actors of races: each makes one request, and returns its outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from api.use_cases.change_job import cancel_recipe_set, change_priority
from api.use_cases.change_partition import configure_partition, put_job_filter
from api.use_cases.change_policy import change_pool_policy
from api.use_cases.change_recipe import change_recipe
from api.use_cases.change_system import NewSystemValues, change_system
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
from tests.races.conditions import Outcome
from tests.races.stage import AWAY, LABS, RULE, RaceStage
from tests.random_histories.jobs import host_requires, job, named, set_of


def asked(process: ApiProcess, use_case: Any) -> Outcome:
    try:
        return process.ask(use_case)
    except Refused as refused:
        return refused


def cancel(stage: RaceStage, process: ApiProcess) -> Outcome:
    number = stage.recipe_set_id
    return asked(process, lambda services, request: cancel_recipe_set(services, request, number, "no use"))


def changing(change: NewSystemValues) -> Callable[[RaceStage, ApiProcess], Outcome]:
    def act(stage: RaceStage, process: ApiProcess) -> Outcome:
        fqdn = stage.fqdn
        return asked(
            process, lambda services, request: change_system(services, request, fqdn, change, lambda _: None)
        )

    return act


break_down = changing(NewSystemValues(condition="Broken", reason="smoke"))
remove = changing(NewSystemValues(condition="Removed", reason="scrapped"))
drain = changing(NewSystemValues(draining=True, reason="a fan"))
move = changing(NewSystemValues(lab_controller="lab-2"))


def occupy(stage: RaceStage, process: ApiProcess) -> Outcome:
    fqdn = stage.fqdn
    return asked(
        process, lambda services, request: take_running(services, request, None, fqdn, Running(None))
    )


def lose(stage: RaceStage, process: ApiProcess) -> Outcome:
    """Register the lab with nothing that runs on the system."""
    fqdn = stage.fqdn
    return asked(process, lambda services, request: end_unreported(services, request, fqdn, ()))


def change_requirement(stage: RaceStage, process: ApiProcess) -> Outcome:
    """Let the recipe want the second system instead of the first."""
    log, recipe_id, job_id = stage.scene.log, stage.recipe_id, stage.job_ids[-1]
    found = folded(job_id, log.load({f"job/{job_id}": 0})[f"job/{job_id}"])
    assert found is not None
    (seen,) = found.documents.values()
    wanted = {"host_requires": host_requires(named(stage.names[1]))}
    spec = job([set_of({**seen, "recipes": [{**seen["recipes"][0], **wanted}]})])
    return asked(
        process,
        lambda services, request: change_recipe(services, request, recipe_id, found, seen, spec),
    )


def reserve(stage: RaceStage, process: ApiProcess, user: str = "ada") -> Outcome:
    wanted, fqdn = ReservationRequest(user, None, None), stage.fqdn
    return asked(process, lambda services, request: reserve_system(services, request, fqdn, wanted))


def lend(stage: RaceStage, process: ApiProcess, user: str = "ada") -> Outcome:
    fqdn = stage.fqdn
    return asked(process, lambda services, request: lend_system(services, request, fqdn, user, None))


def end_the_loan(stage: RaceStage, process: ApiProcess) -> Outcome:
    fqdn = stage.fqdn
    return asked(process, lambda services, request: end_loan(services, request, fqdn))


def close_pool(stage: RaceStage, process: ApiProcess) -> Outcome:
    entries = [policies.user("ada")]
    return asked(
        process, lambda services, request: change_pool_policy(services, request, stage.pool, entries)
    )


def leave_pool(stage: RaceStage, process: ApiProcess) -> Outcome:
    pool, fqdn = stage.pool, stage.fqdn
    return asked(process, lambda services, request: move_system(services, request, pool, fqdn, member=False))


def leave_group(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.put_group(process)


def urgent(stage: RaceStage, process: ApiProcess) -> Outcome:
    number = stage.recipe_set_id
    return asked(
        process, lambda services, request: change_priority(services, request, number, Priority.Urgent)
    )


def installing(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.report(process, ReportInstalling())[0]


def completed(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.report(process, ReportCompleted())[0]


def holder_ends(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.report(process, ReportCompleted(), recipe_id=stage.holder_id)[0]


def holder_narrows(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.report(process, ReportLocks(NO_LOCKS), recipe_id=stage.holder_id)[0]


def forbid(stage: RaceStage, process: ApiProcess) -> Outcome:
    rule = JobFilter(RULE, 0, 0, None, REJECT)
    change, committed = process.ask(
        lambda services, request: put_job_filter(services, request, DEFAULT, rule)
    )
    assert change.events, "the rule is new"
    return committed


def limit(stage: RaceStage, process: ApiProcess) -> Outcome:
    none_at_all = Configuration(limits=LimitSection(placed_recipes=0))
    return process.ask(lambda services, request: configure_partition(services, request, DEFAULT, none_at_all))


def configure_queue(process: ApiProcess, maximum: int) -> Outcome:
    queues = {"queues": [{"name": "default", "max": maximum}]}
    wanted = stored_configuration({"queues": queues})
    return process.ask(lambda services, request: configure_partition(services, request, DEFAULT, wanted))


def close_queue(stage: RaceStage, process: ApiProcess) -> Outcome:
    return configure_queue(process, 0)


def other_holder_ends(stage: RaceStage, process: ApiProcess) -> Outcome:
    return stage.report(process, ReportCompleted(), recipe_id=stage.other_holder_id)[0]


def leave_partition(stage: RaceStage, process: ApiProcess) -> Outcome:
    try:
        return stage.name_labs(process, AWAY, LABS[0])
    except Refused as refused:
        return refused


def submit_dependent(stage: RaceStage, process: ApiProcess) -> Outcome:
    dependency = Dependency(RECIPE_SET, stage.set_id_of_holder, ("completed",))
    return stage.submit(depends_on=(dependency,), process=process)
