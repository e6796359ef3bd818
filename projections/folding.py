"""Tables from events to the functions that fold them into the read models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.directory import events as directory_events
from domain.events import Event, Recorded
from domain.job import events as job_events
from domain.lab_commands import events as command_events
from domain.recipe import events as recipe_events
from domain.recipe_set import events as recipe_set_events
from domain.system import events as system_events
from projections.fold_commands import put_command_state
from projections.fold_jobs import (
    job_changed,
    job_document,
    job_submitted,
    priority_changed,
    recipe_set_submitted,
)
from projections.fold_recipes import (
    recipe_details,
    recipe_new,
    recipe_state,
    task_aborted,
    task_result,
    task_result_details,
    task_state,
)
from projections.fold_systems import (
    put_document,
    put_lab_serving,
    put_pool_system,
    put_system,
    remove_document,
)
from projections.intervals import Instant
from projections.read_models import ReadModels

Fold = Callable[[ReadModels, Recorded, Any, Instant], None]

FOLDED: dict[type[Event], Fold] = {
    job_events.JobSubmitted: job_submitted,
    job_events.JobChanged: job_changed,
    recipe_set_events.RecipeSetSubmitted: recipe_set_submitted,
    recipe_set_events.RecipeSetPriorityChanged: priority_changed,
    recipe_events.RecipeNew: recipe_new,
    recipe_events.RecipeQueued: recipe_state,
    recipe_events.RecipeAssigned: recipe_state,
    recipe_events.RecipeScheduled: recipe_state,
    recipe_events.RecipeWaiting: recipe_state,
    recipe_events.RecipeInstalling: recipe_state,
    recipe_events.RecipeRunning: recipe_state,
    recipe_events.RecipeReserved: recipe_state,
    recipe_events.RecipeCompleted: recipe_state,
    recipe_events.RecipeCancelled: recipe_state,
    recipe_events.RecipeAborted: recipe_state,
    recipe_events.TaskStarted: task_state("running"),
    recipe_events.TaskCompleted: task_state("completed"),
    recipe_events.TaskAborted: task_aborted,
    recipe_events.TaskResult: task_result,
    system_events.SystemRegistered: put_system,
    system_events.SystemIdle: put_system,
    system_events.SystemPending: put_system,
    system_events.SystemScheduled: put_system,
    system_events.SystemWaiting: put_system,
    system_events.SystemInstalling: put_system,
    system_events.SystemRunning: put_system,
    system_events.SystemConditionChanged: put_system,
    system_events.SystemProvisioningFailed: put_system,
    system_events.SystemInventoryChanged: put_system,
    system_events.SystemLabControllerChanged: put_system,
    system_events.SystemOwnerChanged: put_system,
    system_events.SystemDrained: put_system,
    system_events.SystemUndrained: put_system,
    system_events.SystemReservationBegun: put_system,
    system_events.SystemReservationEnded: put_system,
    system_events.SystemAccessPolicyChanged: put_system,
    system_events.SystemLoaned: put_system,
    system_events.SystemLoanEnded: put_system,
    directory_events.PoolSystemAdded: put_pool_system,
    directory_events.PoolSystemRemoved: put_pool_system,
    directory_events.LabControllerRegistered: put_lab_serving,
    directory_events.LabControllerChanged: put_document,
    directory_events.LabControllerEnabled: put_lab_serving,
    directory_events.LabControllerDisabled: put_lab_serving,
    directory_events.LabControllerSilent: put_lab_serving,
    directory_events.LabControllerHeard: put_lab_serving,
    directory_events.LabControllerRemoved: remove_document,
    directory_events.DistroTreeRegistered: put_document,
    directory_events.DistroTreeChanged: put_document,
    directory_events.DistroTreeRemoved: remove_document,
    directory_events.UserRegistered: put_document,
    directory_events.UserChanged: put_document,
    directory_events.UserPasswordSet: put_document,
    directory_events.UserRemoved: remove_document,
    directory_events.GroupRegistered: put_document,
    directory_events.GroupChanged: put_document,
    directory_events.GroupRemoved: remove_document,
    directory_events.PoolRegistered: put_document,
    directory_events.PoolChanged: put_document,
    directory_events.PoolAccessPolicyChanged: put_document,
    directory_events.PoolRemoved: remove_document,
    directory_events.TokenCreated: put_document,
    directory_events.TokenRevoked: put_document,
    command_events.CommandRunning: put_command_state,
    command_events.CommandCompleted: put_command_state,
    command_events.CommandFailed: put_command_state,
}

# Folds of facts: rows that never change and depend on no other row.
FACTS: dict[type[Event], Fold] = {
    job_events.JobSubmitted: job_document,
    recipe_events.RecipeNew: recipe_details,
    recipe_events.TaskResult: task_result_details,
}

# No read model shows watchdogs: only the scheduler needs them, and reads them from the log.
SKIPPED_EVENTS: frozenset[type[Event]] = frozenset({recipe_events.WatchdogSet})


def fold(models: ReadModels, recorded: Recorded) -> None:
    """Fold one event. Every class of events must be a key of `FOLDED`, or in `SKIPPED_EVENTS`."""
    kind = type(recorded.event)
    if kind in SKIPPED_EVENTS:
        return
    now = recorded.position, recorded.recorded_at
    if kind in FACTS:
        FACTS[kind](models, recorded, recorded.event, now)
    FOLDED[kind](models, recorded, recorded.event, now)
