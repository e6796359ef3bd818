"""From events to read models: the tables below say which event moves what."""

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
    system_events.SystemRegistered: system,
    system_events.SystemIdle: system,
    system_events.SystemPending: system,
    system_events.SystemScheduled: system,
    system_events.SystemWaiting: system,
    system_events.SystemInstalling: system,
    system_events.SystemRunning: system,
    system_events.SystemConditionChanged: system,
    system_events.SystemProvisioningFailed: system,
    system_events.SystemInventoryChanged: system,
    system_events.SystemLabControllerChanged: system,
    system_events.SystemOwnerChanged: system,
    system_events.SystemDrained: system,
    system_events.SystemUndrained: system,
    system_events.SystemReservationBegun: system,
    system_events.SystemReservationEnded: system,
    system_events.SystemAccessPolicyChanged: system,
    system_events.SystemLoaned: system,
    system_events.SystemLoanEnded: system,
    directory_events.PoolSystemAdded: pool_system,
    directory_events.PoolSystemRemoved: pool_system,
    directory_events.LabControllerRegistered: lab_serving,
    directory_events.LabControllerChanged: document,
    directory_events.LabControllerEnabled: lab_serving,
    directory_events.LabControllerDisabled: lab_serving,
    directory_events.LabControllerSilent: lab_serving,
    directory_events.LabControllerHeard: lab_serving,
    directory_events.LabControllerRemoved: document_removed,
    directory_events.DistroTreeRegistered: document,
    directory_events.DistroTreeChanged: document,
    directory_events.DistroTreeRemoved: document_removed,
    directory_events.UserRegistered: document,
    directory_events.UserChanged: document,
    directory_events.UserPasswordSet: document,
    directory_events.UserRemoved: document_removed,
    directory_events.GroupRegistered: document,
    directory_events.GroupChanged: document,
    directory_events.GroupRemoved: document_removed,
    directory_events.PoolRegistered: document,
    directory_events.PoolChanged: document,
    directory_events.PoolAccessPolicyChanged: document,
    directory_events.PoolRemoved: document_removed,
    directory_events.TokenCreated: document,
    directory_events.TokenRevoked: document,
    command_events.CommandRunning: command_state,
    command_events.CommandCompleted: command_state,
    command_events.CommandFailed: command_state,
}

# What is true for ever once it happened stands on nothing else.
FACTS: dict[type[Event], Fold] = {
    job_events.JobSubmitted: job_document,
    recipe_events.RecipeNew: recipe_details,
    recipe_events.TaskResult: task_result_details,
}

# A watchdog moves with every task: when it expires is the scheduler's to know, from the log.
SKIPPED_EVENTS: frozenset[type[Event]] = frozenset({recipe_events.WatchdogSet})


def fold(models: ReadModels, recorded: Recorded) -> None:
    """Take one event into the read models. Every kind of event has its row here, or is named as not shown."""
    kind = type(recorded.event)
    if kind in SKIPPED_EVENTS:
        return
    now = recorded.position, recorded.recorded_at
    if kind in FACTS:
        FACTS[kind](models, recorded, recorded.event, now)
    FOLDED[kind](models, recorded, recorded.event, now)
