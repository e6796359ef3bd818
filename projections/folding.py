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
from projections import (
    fold_claims,
    fold_jobs,
    fold_locks,
    fold_notes,
    fold_recipes,
    fold_retention,
    fold_reviews,
    fold_systems,
)
from projections.fold_commands import put_command_state
from projections.intervals import Instant
from projections.read_models import ReadModels

Fold = Callable[[ReadModels, Recorded, Any, Instant], None]

FOLDED: dict[type[Event], Fold] = {
    job_events.JobSubmitted: fold_jobs.job_submitted,
    job_events.JobChanged: fold_jobs.job_changed,
    job_events.JobOpened: fold_jobs.job_opened,
    job_events.JobExtended: fold_jobs.job_extended,
    job_events.JobClosed: fold_jobs.job_closed,
    job_events.JobKept: fold_retention.kept,
    job_events.JobKeepEnded: fold_retention.keep_ended,
    job_events.JobResultsDeleted: fold_retention.results_deleted,
    job_events.JobLogsExpired: fold_retention.logs_expired,
    recipe_set_events.RecipeSetSubmitted: fold_jobs.recipe_set_submitted,
    recipe_set_events.RecipeSetPriorityChanged: fold_jobs.priority_changed,
    recipe_set_events.RecipeSetChanged: fold_jobs.changed_set,
    recipe_set_events.RecipeSetReviewed: fold_reviews.reviewed,
    recipe_set_events.RecipeSetWaived: fold_reviews.waived,
    recipe_set_events.RecipeSetWaiverEnded: fold_reviews.waiver_ended,
    recipe_events.RecipeNew: fold_recipes.recipe_new,
    recipe_events.RecipeChanged: fold_recipes.recipe_changed,
    recipe_events.RecipeQueued: fold_recipes.recipe_state,
    recipe_events.RecipeAssigned: fold_recipes.recipe_state,
    recipe_events.RecipeScheduled: fold_recipes.recipe_state,
    recipe_events.RecipeWaiting: fold_recipes.recipe_state,
    recipe_events.RecipeLocked: fold_recipes.recipe_locked,
    recipe_events.LocksNarrowed: fold_locks.locks_narrowed,
    recipe_events.RecipeInstalling: fold_recipes.recipe_state,
    recipe_events.RecipeRunning: fold_recipes.recipe_state,
    recipe_events.RecipeReserved: fold_recipes.recipe_state,
    recipe_events.RecipeCompleted: fold_recipes.recipe_state,
    recipe_events.RecipeCancelled: fold_recipes.recipe_state,
    recipe_events.RecipeAborted: fold_recipes.recipe_state,
    recipe_events.RecipeClaimed: fold_claims.recipe_claimed,
    recipe_events.RecipeClaimEnded: fold_claims.claim_ended,
    recipe_events.TaskStarted: fold_recipes.task_state("running"),
    recipe_events.TaskCompleted: fold_recipes.task_state("completed"),
    recipe_events.TaskAborted: fold_recipes.task_aborted,
    recipe_events.TaskResult: fold_recipes.task_result,
    system_events.SystemRegistered: fold_systems.put_system,
    system_events.SystemIdle: fold_systems.put_system,
    system_events.SystemPending: fold_systems.put_system,
    system_events.SystemScheduled: fold_systems.put_system,
    system_events.SystemWaiting: fold_systems.put_system,
    system_events.SystemInstalling: fold_systems.put_system,
    system_events.SystemRunning: fold_systems.put_system,
    system_events.SystemConditionChanged: fold_systems.put_system,
    system_events.SystemTicketChanged: fold_systems.put_system,
    system_events.SystemPowerChanged: fold_systems.put_system,
    system_events.SystemNoteAdded: fold_notes.note_added,
    system_events.SystemNoteRemoved: fold_notes.note_removed,
    system_events.SystemProvisioningFailed: fold_systems.put_system,
    system_events.SystemInventoryChanged: fold_systems.put_system,
    system_events.SystemLabControllerChanged: fold_systems.put_system,
    system_events.SystemOwnerChanged: fold_systems.put_system,
    system_events.SystemDrained: fold_systems.put_system,
    system_events.SystemUndrained: fold_systems.put_system,
    system_events.SystemMaintenanceEnded: fold_systems.put_system,
    system_events.SystemOccupied: fold_systems.put_system,
    system_events.SystemVacated: fold_systems.put_system,
    system_events.SystemReservationBegun: fold_systems.put_system,
    system_events.SystemReservationExtended: fold_systems.put_system,
    system_events.SystemReservationEnded: fold_systems.put_system,
    system_events.SystemAccessPolicyChanged: fold_systems.put_system,
    system_events.SystemLoaned: fold_systems.put_system,
    system_events.SystemLoanExtended: fold_systems.put_system,
    system_events.SystemLoanEnded: fold_systems.put_system,
    directory_events.PoolSystemAdded: fold_systems.put_pool_system,
    directory_events.PoolSystemRemoved: fold_systems.put_pool_system,
    directory_events.LabControllerRegistered: fold_systems.put_lab_serving,
    directory_events.LabControllerChanged: fold_systems.put_document,
    directory_events.LabControllerExtensionsLimited: fold_systems.put_document,
    directory_events.LabControllerItemsRejected: fold_systems.put_document,
    directory_events.LabControllerEnabled: fold_systems.put_lab_serving,
    directory_events.LabControllerDisabled: fold_systems.put_lab_serving,
    directory_events.LabControllerPartitionChanged: fold_systems.put_lab_serving,
    directory_events.LabControllerSilent: fold_systems.put_lab_serving,
    directory_events.LabControllerHeard: fold_systems.put_lab_serving,
    directory_events.LabControllerRemoved: fold_systems.remove_document,
    directory_events.DistroTreeRegistered: fold_systems.put_document,
    directory_events.DistroTreeChanged: fold_systems.put_document,
    directory_events.DistroTreeRemoved: fold_systems.remove_document,
    directory_events.UserRegistered: fold_systems.put_document,
    directory_events.UserChanged: fold_systems.put_document,
    directory_events.UserPasswordSet: fold_systems.put_document,
    directory_events.UserNotificationsChanged: fold_systems.put_document,
    directory_events.UserFoundInLdap: fold_systems.put_document,
    directory_events.UserLeftLdap: fold_systems.put_document,
    directory_events.UserRemoved: fold_systems.remove_document,
    directory_events.GroupRegistered: fold_systems.put_document,
    directory_events.GroupChanged: fold_systems.put_document,
    directory_events.GroupRemoved: fold_systems.remove_document,
    directory_events.PoolRegistered: fold_systems.put_document,
    directory_events.PoolChanged: fold_systems.put_document,
    directory_events.PoolAccessPolicyChanged: fold_systems.put_document,
    directory_events.PoolRemoved: fold_systems.remove_document,
    directory_events.TokenCreated: fold_systems.put_document,
    directory_events.TokenRevoked: fold_systems.put_document,
    directory_events.PartitionCreated: fold_systems.put_document,
    directory_events.PartitionConfigured: fold_systems.put_document,
    directory_events.PartitionStateChanged: fold_systems.put_document,
    directory_events.PartitionJobFilterPut: fold_systems.put_document,
    directory_events.PartitionJobFilterRemoved: fold_systems.put_document,
    directory_events.PartitionRemoved: fold_systems.remove_document,
    directory_events.MaintenanceWindowAdded: fold_systems.put_document,
    directory_events.MaintenanceWindowMoved: fold_systems.put_document,
    directory_events.MaintenanceWindowEnded: fold_systems.put_document,
    command_events.CommandRunning: put_command_state,
    command_events.CommandCompleted: put_command_state,
    command_events.CommandFailed: put_command_state,
}

# Folds of facts: rows that never change and depend on no other row.
FACTS: dict[type[Event], Fold] = {
    job_events.JobSubmitted: fold_jobs.job_document,
    job_events.JobExtended: fold_jobs.added_sets,
    recipe_events.RecipeNew: fold_recipes.recipe_details,
    recipe_events.RecipeChanged: fold_recipes.recipe_change,
    recipe_events.TaskResult: fold_recipes.task_result_details,
}

# No read model shows watchdogs: only the scheduler needs them, and reads them from the log. The key of a job
# is in its document.
SKIPPED_EVENTS: frozenset[type[Event]] = frozenset(
    {recipe_events.WatchdogSet, recipe_events.RecipeExtended, job_events.JobKeyUsed}
)


def fold(models: ReadModels, recorded: Recorded) -> None:
    """Fold one event. Every class of events must be a key of `FOLDED`, or in `SKIPPED_EVENTS`."""
    models.actor_parts.add(recorded)
    kind = type(recorded.event)
    if kind in SKIPPED_EVENTS:
        return
    now = recorded.position, recorded.recorded_at
    if kind in FACTS:
        FACTS[kind](models, recorded, recorded.event, now)
    FOLDED[kind](models, recorded, recorded.event, now)
