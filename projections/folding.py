"""From events to read models: the tables below say which event moves what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.directory import events as directory
from domain.events import Event, Recorded
from domain.job import events as job
from domain.lab_commands import events as command_happened
from domain.recipe import events as recipe
from domain.recipe_set import events as recipe_set
from domain.system import events as system_happened
from projections.fold_commands import command_state
from projections.fold_documents import document, document_removed
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
from projections.fold_systems import lab_serving, pool_system, system
from projections.intervals import Now
from projections.read_models import ReadModels

Fold = Callable[[ReadModels, Recorded, Any, Now], None]

FOLDED: dict[type[Event], Fold] = {
    job.JobSubmitted: job_submitted,
    job.JobChanged: job_changed,
    recipe_set.RecipeSetSubmitted: recipe_set_submitted,
    recipe_set.RecipeSetPriorityChanged: priority_changed,
    recipe.RecipeNew: recipe_new,
    recipe.RecipeQueued: recipe_state,
    recipe.RecipeAssigned: recipe_state,
    recipe.RecipeScheduled: recipe_state,
    recipe.RecipeWaiting: recipe_state,
    recipe.RecipeInstalling: recipe_state,
    recipe.RecipeRunning: recipe_state,
    recipe.RecipeReserved: recipe_state,
    recipe.RecipeCompleted: recipe_state,
    recipe.RecipeCancelled: recipe_state,
    recipe.RecipeAborted: recipe_state,
    recipe.TaskStarted: task_state("running"),
    recipe.TaskCompleted: task_state("completed"),
    recipe.TaskAborted: task_aborted,
    recipe.TaskResult: task_result,
    system_happened.SystemRegistered: system,
    system_happened.SystemIdle: system,
    system_happened.SystemPending: system,
    system_happened.SystemScheduled: system,
    system_happened.SystemWaiting: system,
    system_happened.SystemInstalling: system,
    system_happened.SystemRunning: system,
    system_happened.SystemConditionChanged: system,
    system_happened.SystemProvisioningFailed: system,
    system_happened.SystemInventoryChanged: system,
    system_happened.SystemLabControllerChanged: system,
    system_happened.SystemOwnerChanged: system,
    system_happened.SystemDrained: system,
    system_happened.SystemUndrained: system,
    system_happened.SystemReservationBegun: system,
    system_happened.SystemReservationEnded: system,
    system_happened.SystemAccessPolicyChanged: system,
    system_happened.SystemLoaned: system,
    system_happened.SystemLoanEnded: system,
    directory.PoolSystemAdded: pool_system,
    directory.PoolSystemRemoved: pool_system,
    directory.LabControllerRegistered: lab_serving,
    directory.LabControllerChanged: document,
    directory.LabControllerEnabled: lab_serving,
    directory.LabControllerDisabled: lab_serving,
    directory.LabControllerSilent: lab_serving,
    directory.LabControllerHeard: lab_serving,
    directory.LabControllerRemoved: document_removed,
    directory.DistroTreeRegistered: document,
    directory.DistroTreeChanged: document,
    directory.DistroTreeRemoved: document_removed,
    directory.UserRegistered: document,
    directory.UserChanged: document,
    directory.UserPasswordSet: document,
    directory.UserRemoved: document_removed,
    directory.GroupRegistered: document,
    directory.GroupChanged: document,
    directory.GroupRemoved: document_removed,
    directory.PoolRegistered: document,
    directory.PoolChanged: document,
    directory.PoolAccessPolicyChanged: document,
    directory.PoolRemoved: document_removed,
    directory.TokenCreated: document,
    directory.TokenRevoked: document,
    command_happened.CommandRunning: command_state,
    command_happened.CommandCompleted: command_state,
    command_happened.CommandFailed: command_state,
}

# What is true for ever once it happened stands on nothing else.
FACTS: dict[type[Event], Fold] = {
    job.JobSubmitted: job_document,
    recipe.RecipeNew: recipe_details,
    recipe.TaskResult: task_result_details,
}

# A watchdog moves with every task: when it expires is the scheduler's to know, from the log.
NOT_SHOWN: frozenset[type[Event]] = frozenset({recipe.WatchdogSet})


def fold(models: ReadModels, recorded: Recorded) -> None:
    """Take one event into the read models. Every kind of event has its row here, or is named as not shown."""
    kind = type(recorded.event)
    if kind in NOT_SHOWN:
        return
    now = recorded.position, recorded.recorded_at
    if kind in FACTS:
        FACTS[kind](models, recorded, recorded.event, now)
    FOLDED[kind](models, recorded, recorded.event, now)
