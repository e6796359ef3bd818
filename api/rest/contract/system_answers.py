"""The JSON of answers about systems, and of what lab controllers are told."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.rest.contract.answers import Answer, ListAnswer, Problem, ReadAnswer, Shape
from api.rest.contract.system_inputs import Properties
from api.rest.contract.values import CommandState, Condition, Id, Time, UsageState


class ListedSystem(Properties):
    """Properties that are unknown are left out. `user` has it as a person; `loaned_to` may."""

    fqdn: str
    lab_controller: str
    owner: str
    condition: Condition
    pools: list[str]
    user: str | None
    reserved_until: Time | None
    loaned_to: str | None
    draining: bool
    usage: UsageState
    recipe_id: Id | None


class System(ReadAnswer, ListedSystem):
    pass


class SystemList(ListAnswer):
    systems: list[ListedSystem]


class SystemRegistered(Answer):
    fqdn: str


class SystemChanged(Answer):
    fqdn: str
    changed: bool


class UsageInterval(Shape):
    condition: Condition
    usage: UsageState
    recipe_id: Id | None
    since: Time
    until: Time | None
    since_position: int
    until_position: int | None


class SystemHistory(ReadAnswer):
    intervals: list[UsageInterval]


class IdleSystem(Shape):
    fqdn: str
    lab_controller: str
    since: Time
    since_position: int


class IdlePool(ListAnswer):
    systems: list[IdleSystem]


class UsageSum(Shape):
    """`seconds` by condition and usage; `key` is null for systems in no pool, or of unknown arch."""

    key: str | None
    seconds: dict[str, dict[str, float]]


class SystemUsage(ReadAnswer):
    since: Time
    until: Time
    groups: list[UsageSum]


class Reserved(Answer):
    fqdn: str
    user: str
    until: Time | None
    distro_tree: Id | None


class SystemReturned(Answer):
    fqdn: str
    returned: bool


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
