"""Inputs of reports by lab controllers, single ones and many in one message."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from api.intake.document import Locks
from api.intake.words import one_line
from api.rest.contract.inputs.jobs import Cancel
from api.rest.contract.inputs.systems import SystemItem
from api.rest.contract.values import (
    CommandId,
    Count,
    Flag,
    Fqdn,
    Id,
    Input,
    Link,
    Name,
    OneOf,
    Real,
    Reason,
    Sha256,
    SizeBytes,
    Text,
)
from domain.recipe_set.reports import MAX_LOGS
from domain.roll_up import RESULT_ORDER

# `New` is the result of a task without reports.
# Maximum number of items of a message.
MAX_ITEMS = 1_000
REPORTED = tuple(result for result in RESULT_ORDER if result != "New")


class CommandReport(Input):
    """`power_failed`: the command failed because the power control of the system did not work."""

    state: Literal["running", "completed", "failed"]
    reason: Text = ""
    power_failed: Flag = False


class CommandUpdate(CommandReport):
    """A report on the command `id`, as one of many."""

    id: CommandId


class LogItem(Input):
    """A log file of a result."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=4_096), AfterValidator(one_line)]
    url: Link
    size_bytes: SizeBytes | None = None
    sha256: Sha256 | None = None


class ProgressItem(Input):
    """One of the forms in docs/http.md, which differ by their fields; each may name the recipe's attempt."""

    attempt: Id | None = None
    state: Literal["installing", "running", "completed", "aborted"] | None = None
    task_id: Id | None = None
    result: Annotated[str, OneOf(REPORTED)] | None = None
    message: Text | None = None
    score: Real | None = None
    path: Text | None = None
    logs: Annotated[list[LogItem], Field(max_length=MAX_LOGS)] | None = None
    log_urls: Annotated[list[Link], Field(max_length=MAX_LOGS)] | None = None
    reason: Text | None = None
    watchdog_seconds: Count | None = None
    locks: Locks | None = None


class RecipeProgress(ProgressItem):
    """A report on the recipe `recipe_id`, as one of many."""

    recipe_id: Id


class Release(Input):
    """The release of a recipe from its system, by its lab controller."""

    recipe_id: Id
    reason: Text = "released by its lab controller"


class RunningItem(Input):
    """A recipe that runs on a system; without a `recipe_id` something that the lab controller cannot name.

    `state` and `task_id` are those of the recipe, as in a report of progress.
    """

    system: Fqdn
    recipe_id: Id | None = None
    attempt: Id | None = None
    state: Literal["installing", "running"] | None = None
    task_id: Id | None = None

    @model_validator(mode="after")
    def _is_complete(self) -> RunningItem:
        if self.recipe_id is None and (self.attempt or self.state or self.task_id):
            raise ValueError("attempt, state and task_id need a recipe_id")
        if (self.task_id is not None) != (self.state == "running"):
            raise ValueError("the state running needs a task_id, and no other state has one")
        return self


class Resolution(Input):
    """The reason why a system is vacant."""

    reason: Reason


class Cancellation(Cancel):
    """The end of one recipe set, or of all sets of a job that have not started."""

    job_id: Id | None = None
    recipe_set_id: Id | None = None

    @model_validator(mode="after")
    def _just_one(self) -> Cancellation:
        if (self.job_id is None) == (self.recipe_set_id is None):
            raise ValueError("must have either job_id or recipe_set_id")
        return self


class AddedRecipeSet(Input):
    """A recipe set as in a job, which is added to the open job `job_id`."""

    model_config = ConfigDict(extra="allow")

    job_id: Id


class Registration(Input):
    """A part of a registration: systems as in an update, and the recipes that run there, each with an answer.

    `instance` names the start of the lab controller's agent, `partition` the one that it believes in.
    """

    instance: Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(one_line)]
    partition: Name
    systems: list[dict[str, Any]] = Field(default_factory=list)
    running: list[dict[str, Any]] = Field(default_factory=list)
    last: Flag = False

    @model_validator(mode="after")
    def _is_bounded(self) -> Registration:
        if len(self.systems) + len(self.running) > MAX_ITEMS:
            raise ValueError(f"has more than {MAX_ITEMS} systems and running items; send them in parts")
        return self


class Updates(Input):
    """A message of many items (`Update`). Each item has its own answer."""

    items: Annotated[list[dict[str, Any]], Field(max_length=MAX_ITEMS)]


class Update(Input):
    """One item of a lab controller's message, with exactly one of these fields."""

    progress: RecipeProgress | None = None
    command: CommandUpdate | None = None
    system: SystemItem | None = None
    create: SystemItem | None = None
    drain: Fqdn | None = None
    undrain: Fqdn | None = None
    remove: Fqdn | None = None
    release: Release | None = None
    job: dict[str, Any] | None = None
    recipe_set: AddedRecipeSet | None = None
    cancel: Cancellation | None = None
    running: RunningItem | None = None
    vacant: Fqdn | None = None

    @model_validator(mode="after")
    def _just_one(self) -> Update:
        if sum(getattr(self, name) is not None for name in Update.model_fields) != 1:
            raise ValueError(f"must have exactly one of {', '.join(Update.model_fields)}")
        return self
