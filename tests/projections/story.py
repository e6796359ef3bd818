"""A history with events of all kinds."""

from __future__ import annotations

from domain.directory.events import DistroTreeRemoved, LabControllerDisabled, PoolRegistered, PoolSystemAdded
from domain.job.events import (
    JobChanged,
    JobClosed,
    JobExtended,
    JobKeepEnded,
    JobKept,
    JobLogsExpired,
    JobOpened,
    JobResultsDeleted,
    JobSubmitted,
)
from domain.lab_commands.events import CommandFailed
from domain.recipe import events as recipe_events
from domain.recipe.claim import OVER, SERVED
from domain.recipe_set.events import RecipeSetChanged, RecipeSetPriorityChanged, RecipeSetSubmitted
from domain.system import events as system_events
from tests.projections import happened
from tests.projections.happened import LAB, guest, host, of
from tests.projections.projected_log import ProjectedLog


def write_story(models: ProjectedLog) -> None:
    models.commit(happened.lab(), happened.tree(1), *(happened.registered(fqdn) for fqdn in "abc"))
    models.commit(*of("system", "a", system_events.SystemNoteAdded("two disks")))
    models.commit(*of("pool", "big", PoolRegistered(None), PoolSystemAdded("a")))
    models.commit(
        *of("job", 2, JobSubmitted("ada", "ada", None, "", (), {}), JobOpened(())),
        *of("job", 2, JobExtended((9,), {"recipe_sets": [{"recipes": []}]})),
        *of("recipe-set", 9, RecipeSetSubmitted(2, "Normal", (9,))),
        *of("recipe", 9, host(9, job_id=2, recipe_set_id=9), recipe_events.RecipeCancelled("enough")),
    )
    models.commit(*of("job", 2, JobClosed("closed")))
    network = {"network": {"Exclusive": ["n1", "n2"]}}
    models.commit(
        *happened.submitted(host(1, locks=network), host(2), guest(3, host_id=2)), *happened.queued(1, 2, 3)
    )
    models.commit(("recipe-set/1", RecipeSetPriorityChanged("High")))
    other = {"task_id": 12, "name": "/other", "role": None, "params": {}}
    models.commit(
        ("recipe/1", recipe_events.RecipeChanged("{}", "", 1, None, (other,), network)),
        ("recipe-set/1", RecipeSetChanged(("/other",), (), network, {"recipes": []})),
    )
    models.commit(*of("recipe", 1, recipe_events.RecipeClaimed("b", forced=False)))
    models.commit(*of("recipe", 2, recipe_events.RecipeClaimed("a", forced=True)))
    models.commit(*of("recipe", 1, recipe_events.RecipeClaimEnded("b", OVER)))
    models.commit(*happened.scheduled("a", 1), happened.assigned(2), happened.assigned(3))
    models.commit(*of("system", "a", system_events.SystemScheduled(1)))
    models.commit(
        *of("recipe", 2, recipe_events.RecipeClaimEnded("a", SERVED)),
        *happened.scheduled("b", 2, 3),
        *happened.waiting("a", 1, locks=None),
        *happened.waiting("b", 2, 3, locks=None),
    )
    models.commit(happened.locked(1, network), happened.locked(2), happened.locked(3))
    models.commit(happened.narrowed(1, {"network": {"Shared": ["n1"]}}))
    models.commit(*happened.running("a", 1), *happened.running("b", 2, 3))
    models.commit(
        *of(
            "recipe",
            3,
            recipe_events.TaskStarted(31),
            recipe_events.TaskResult(31, "Warn", "", 1.0, ("log",)),
        )
    )
    (at,) = models.commit(*of("recipe", 3, recipe_events.RecipeAborted("watchdog")))
    models.commit((f"command/{at}", CommandFailed("nobody there")))
    models.commit(
        *of("recipe", 1, recipe_events.RecipeCompleted()),
        *of("recipe", 2, recipe_events.RecipeReserved("b", 60)),
    )
    begun = system_events.SystemReservationBegun("bob", None, 1)
    models.commit(*of("system", "c", system_events.SystemConditionChanged("Manual", "mine"), begun))
    models.commit(
        *of("system", "c", system_events.SystemWaiting(None)), ("distro-tree/1", DistroTreeRemoved())
    )
    models.commit(
        *of("system", "c", system_events.SystemReservationEnded("over"), system_events.SystemIdle())
    )
    models.commit(
        *of("lab-controller", LAB, LabControllerDisabled()), *happened.queued(2, reason="preempted")
    )
    models.commit(*of("system", "b", system_events.SystemNoteAdded("a loud fan")))
    _write_deletion(models)


def _write_deletion(models: ProjectedLog) -> None:
    """Commit a job with a result that is deleted, and a job that is kept."""
    models.commit(
        *of("job", 4, JobSubmitted("ada", "ada", None, "", (40,), {"retention_tag": "scratch"})),
        *of("recipe-set", 40, RecipeSetSubmitted(4, "Normal", (40,))),
        *of("recipe", 40, host(40, job_id=4, recipe_set_id=40)),
        *of("recipe", 40, recipe_events.TaskResult(401, "Pass", "", 1.0, ("log",))),
        *of("recipe", 40, recipe_events.RecipeCancelled("enough")),
    )
    models.commit(*of("job", 4, JobKept("a bug"), JobChanged("", "60days", None), JobKeepEnded("no bug")))
    models.commit(*of("job", 4, JobResultsDeleted("60days", 60), JobLogsExpired(LAB)))
    models.commit(*of("job", 2, JobKept("a bug")))
