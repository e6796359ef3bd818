"""From events to read models: the table at the bottom says which event moves what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.command import events as command
from domain.directory import events as directory
from domain.events import Event, Recorded
from domain.job import events as job
from domain.recipe import events as recipe
from domain.system import events as system
from projections.fold_documents import command_state, document
from projections.fold_recipes import job_submitted, recipe_new, recipe_state, task_result, task_state
from projections.fold_systems import pool_system, system_registered, system_usage
from projections.intervals import Now
from projections.read_models import ReadModels

Fold = Callable[[ReadModels, Recorded, Any, Now], None]

FOLDED: dict[type[Event], Fold] = {
    job.JobSubmitted: job_submitted,
    recipe.RecipeNew: recipe_new,
    recipe.RecipeQueued: recipe_state,
    recipe.RecipeScheduled: recipe_state,
    recipe.RecipeWaiting: recipe_state,
    recipe.RecipeInstalling: recipe_state,
    recipe.RecipeRunning: recipe_state,
    recipe.RecipeCompleted: recipe_state,
    recipe.RecipeCancelled: recipe_state,
    recipe.RecipeAborted: recipe_state,
    recipe.TaskStarted: task_state("running"),
    recipe.TaskCompleted: task_state("completed"),
    recipe.TaskAborted: task_state("aborted"),
    recipe.TaskResult: task_result,
    system.SystemRegistered: system_registered,
    system.SystemIdle: system_usage,
    system.SystemPending: system_usage,
    system.SystemScheduled: system_usage,
    system.SystemWaiting: system_usage,
    system.SystemInstalling: system_usage,
    system.SystemRunning: system_usage,
    directory.PoolSystemAdded: pool_system,
    directory.PoolSystemRemoved: pool_system,
    directory.UserRegistered: document,
    directory.GroupRegistered: document,
    directory.GroupChanged: document,
    directory.PoolRegistered: document,
    directory.PoolChanged: document,
    directory.LabControllerRegistered: document,
    directory.LabControllerEnabled: document,
    directory.LabControllerDisabled: document,
    directory.DistroTreeRegistered: document,
    directory.DistroTreeChanged: document,
    directory.TokenCreated: document,
    directory.TokenRevoked: document,
    command.CommandRunning: command_state,
    command.CommandCompleted: command_state,
    command.CommandFailed: command_state,
}

# What a recipe set is shows through its recipes, which come with it.
NOT_SHOWN: frozenset[type[Event]] = frozenset({job.RecipeSetSubmitted})


def fold(models: ReadModels, recorded: Recorded) -> None:
    """Take one event into the read models. Every kind of event has its row here, or is named as not shown."""
    kind = type(recorded.event)
    if kind not in NOT_SHOWN:
        FOLDED[kind](models, recorded, recorded.event, (recorded.position, recorded.recorded_at))
