"""Answers to lab controllers."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.intake.document import Fetch, Partition, Repo, Reservesys, Watchdog
from api.rest.contract.answers.common import Answer, AnswerPart, Problem, ReadAnswer
from api.rest.contract.answers.jobs import SubmittedJob
from api.rest.contract.values import CommandState, Id


class CommandTree(AnswerPart):
    """A distro tree with its URLs for this lab."""

    id: Id
    name: str
    urls: list[str]


class CommandTask(AnswerPart):
    """`watchdog_seconds`: the watchdog of the recipe expires this long after the start of the task."""

    id: Id
    name: str
    role: str | None
    params: dict[str, str]
    fetch: Fetch | None
    watchdog_seconds: int


class CommandGuest(AnswerPart):
    recipe_id: Id
    guestname: str | None
    guestargs: str
    distro_tree: CommandTree | None
    distro: dict[str, Any] | None
    whiteboard: str
    role: str | None
    kernel_options: str
    kernel_options_post: str
    ks_meta: str
    kickstart: str | None
    ks_appends: list[str]
    packages: list[str]
    repos: list[Repo]
    partitions: list[Partition]
    watchdog: Watchdog
    reservesys: Reservesys | None
    tasks: list[CommandTask]


class TaskRole(AnswerPart):
    id: Id
    role: str


class CommandMember(AnswerPart):
    """A recipe of the set with its system, for roles. `tasks`: the tasks that have their own role."""

    recipe_id: Id
    host_recipe_id: Id | None
    guestname: str | None
    role: str | None
    system: str
    tasks: list[TaskRole]


class LabCommand(AnswerPart):
    """The fields from `distro_tree` on are only for a `provision` command, `reason` only for other ones.

    `reason` says why the recipe or the reservation ended; null if the recipe completed and nobody gave a
    reason. `attempt` is that of the recipe, which reports of its progress name; null for a reservation.
    A `delete-logs` command is about the job `job_id` and its `recipe_ids` in this lab, and has no `system`.
    """

    id: int
    kind: str
    system: str | None
    recipe_id: Id | None
    attempt: Id | None
    state: CommandState
    reason: str | None = None
    distro_tree: CommandTree | None = None
    distro: dict[str, Any] | None = None
    job_id: Id | None = None
    recipe_set_id: Id | None = None
    whiteboard: str = ""
    role: str | None = None
    kernel_options: str = ""
    kernel_options_post: str = ""
    ks_meta: str = ""
    kickstart: str | None = None
    ks_appends: list[str] = Field(default_factory=list)
    packages: list[str] = Field(default_factory=list)
    repos: list[Repo] = Field(default_factory=list)
    partitions: list[Partition] = Field(default_factory=list)
    watchdog: Watchdog = Watchdog()
    reservesys: Reservesys | None = None
    tasks: list[CommandTask] = Field(default_factory=list)
    guests: list[CommandGuest] = Field(default_factory=list)
    members: list[CommandMember] = Field(default_factory=list)
    recipe_ids: list[Id] = Field(default_factory=list)


class LabCommands(ReadAnswer):
    commands: list[LabCommand]


class CommandReported(Answer):
    id: int
    state: CommandState


class UpdateTaken(AnswerPart):
    """`job`: the numbers of a submitted job."""

    status: int
    position: int
    job: SubmittedJob | None = None


class RegistrationTaken(Answer):
    """The answers for the items of the part, each list in its order."""

    systems: list[UpdateTaken | Problem]
    running: list[UpdateTaken | Problem]


class UpdatesTaken(Answer):
    """The answers for the items, in their order."""

    items: list[UpdateTaken | Problem]
