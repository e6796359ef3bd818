"""What lab controllers are told."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.rest.contract.answers.common import Answer, Problem, ReadAnswer, Shape
from api.rest.contract.values import CommandState, Id


class CommandTree(Shape):
    """The places of a tree for this lab."""

    id: Id
    name: str
    urls: list[str]


class CommandTask(Shape):
    id: Id
    name: str
    params: dict[str, str]


class CommandGuest(Shape):
    recipe_id: Id
    guestname: str | None
    guestargs: str
    distro_tree: CommandTree | None
    distro: dict[str, Any] | None
    kernel_options: str
    ks_meta: str
    tasks: list[CommandTask]


class LabCommand(Shape):
    """The fields from `distro_tree` on are those of a command to provision."""

    id: int
    kind: str
    system: str
    recipe_id: Id | None
    state: CommandState
    distro_tree: CommandTree | None = None
    distro: dict[str, Any] | None = None
    kernel_options: str = ""
    ks_meta: str = ""
    tasks: list[CommandTask] = Field(default_factory=list)
    guests: list[CommandGuest] = Field(default_factory=list)


class LabCommands(ReadAnswer):
    commands: list[LabCommand]


class CommandReported(Answer):
    id: int
    state: CommandState


class UpdateTaken(Shape):
    status: int
    position: int


class UpdatesTaken(Answer):
    """One for each item, in their order."""

    items: list[UpdateTaken | Problem]
