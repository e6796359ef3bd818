"""Events of recipes. Each state has its own event class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from domain.endings import EndingEvent
from domain.events import Event, event


@event("recipe.new", version=3)
class RecipeNew(Event):
    """A recipe was submitted; each of the `tasks` is {"task_id", "name", "role", "params"[, "fetch"]}.

    `distro_tree_id` is null if no tree matches, and for a custom distro: `distro` is then {"arch", "osmajor",
    "osminor", ...}. `host_recipe_id` is set for a guest. `reservesys` is {"duration_seconds", "when"}.

    `locks` is the document (`domain.contention.documents`) of the resource locks that the recipe, its tasks
    and its guests declare. It has the names of guests in place of `$guests`, and keeps the other own names.
    """

    STATE: ClassVar[str] = "new"
    job_id: int
    recipe_set_id: int
    owner: str
    group: str | None
    priority: str
    whiteboard: str
    role: str | None
    host_requires: str
    distro_requires: str
    distro_tree_id: int | None
    autopick_random: bool
    autopick_pools: Sequence[str]
    kernel_options: str
    kernel_options_post: str
    ks_meta: str
    tasks: Sequence[Mapping[str, Any]]
    host_recipe_id: int | None = None
    guestname: str | None = None
    guestargs: str | None = None
    distro: Mapping[str, Any] | None = None
    reservesys: Mapping[str, Any] | None = None
    locks: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        # Version 1 had no guests, custom distros, or `reservesys`; version 2 had no locks.
        return data if version in (1, 2) else super().upcast(data, version)


@event("recipe.changed")
class RecipeChanged(Event):
    """A person has changed the requirements, tasks or locks of the recipe before its set has started.

    The fields are those of `recipe.new`, with their values after the change.
    """

    host_requires: str
    distro_requires: str
    distro_tree_id: int | None
    distro: Mapping[str, Any] | None
    tasks: Sequence[Mapping[str, Any]]
    locks: Mapping[str, Any]


@event("recipe.queued", version=2)
class RecipeQueued(Event):
    """The recipe waits without a place. `preempted_by` is the id of the set that took its set's systems."""

    STATE: ClassVar[str] = "queued"
    reason: str
    preempted_by: int | None = None

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        # Version 1 had no preemption.
        return data if version == 1 else super().upcast(data, version)


@event("recipe.assigned")
class RecipeAssigned(Event):
    """The recipe is bound to a lab: a sibling got a system (`reason` is null), or the recipe lost its own."""

    STATE: ClassVar[str] = "assigned"
    lab_controller: str
    reason: str | None


@event("recipe.scheduled", version=2)
class RecipeScheduled(Event):
    """The recipe got a system. `overtook` is the id of a queued recipe of an earlier set that it overtook."""

    STATE: ClassVar[str] = "scheduled"
    system: str
    lab_controller: str
    overtook: int | None = None

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        # Version 1 counted no overtakings.
        return data if version == 1 else super().upcast(data, version)


@event("recipe.waiting", version=2)
class RecipeWaiting(Event):
    """All recipes of the set have systems. `locks` is the document of the locks that the recipe holds.

    `locks` is null while the set waits for its locks: `recipe.locked` says later what the recipe got.
    """

    STATE: ClassVar[str] = "waiting"
    system: str
    locks: Mapping[str, Any] | None = field(default_factory=dict)

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        # Version 1 had no locks: each set started as soon as all its recipes had systems.
        return data if version == 1 else super().upcast(data, version)


@event("recipe.locked")
class RecipeLocked(Event):
    """The set of a waiting recipe got its locks, and has started; `locks` are those of this recipe."""

    locks: Mapping[str, Any]


@event("recipe.locks-narrowed")
class LocksNarrowed(Event):
    """The lab controller has given up locks of a started recipe; `locks` are those that it still holds."""

    locks: Mapping[str, Any]


@event("recipe.installing")
class RecipeInstalling(Event):
    STATE: ClassVar[str] = "installing"
    system: str


@event("recipe.running")
class RecipeRunning(Event):
    STATE: ClassVar[str] = "running"
    system: str


@event("recipe.reserved", version=2)
class RecipeReserved(Event):
    """The recipe keeps its system for `seconds`, or until returned; then aborted if it has a `reason`."""

    STATE: ClassVar[str] = "reserved"
    system: str
    seconds: int
    reason: str | None = None

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        # Version 1 had no `reason`.
        return data if version == 1 else super().upcast(data, version)


@event("recipe.completed", version=2)
class RecipeCompleted(EndingEvent):
    """The recipe has completed. `reason` is that of a person who returned the system that it kept."""

    STATE: ClassVar[str] = "completed"


@event("recipe.cancelled")
class RecipeCancelled(Event):
    STATE: ClassVar[str] = "cancelled"
    reason: str


@event("recipe.aborted")
class RecipeAborted(Event):
    STATE: ClassVar[str] = "aborted"
    reason: str


@event("recipe.task-started")
class TaskStarted(Event):
    task_id: int


@event("recipe.task-result", version=2)
class TaskResult(Event):
    """Each of the `logs` is {"name", "url", "size_bytes", "sha256"}; size and hash may be null."""

    task_id: int
    result: str
    message: str
    score: float | None
    log_urls: Sequence[str]
    path: str = ""
    logs: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        # Version 1 had no path, and only URLs of logs.
        return data if version == 1 else super().upcast(data, version)


@event("recipe.task-completed")
class TaskCompleted(Event):
    task_id: int


@event("recipe.task-aborted")
class TaskAborted(Event):
    task_id: int


@event("recipe.watchdog-set")
class WatchdogSet(Event):
    """The lab controller has set the watchdog, which expires this many seconds after the event."""

    seconds: int


@event("recipe.extended")
class RecipeExtended(Event):
    """A person has moved the deadline of the recipe by `seconds`; `reason` is null if nobody gave one."""

    seconds: int
    reason: str | None


@event("recipe.claimed")
class RecipeClaimed(Event):
    """The unplaced recipe claims a busy system, which asks it first when it comes free.

    `forced` is whether the recipe forces the system; other claims run out.
    """

    system: str
    forced: bool


@event("recipe.claim-ended")
class RecipeClaimEnded(Event):
    """The claim of the recipe to a system has ended; `reason` is one of `domain.recipe.claim`."""

    system: str
    reason: str


def state_of_open_tasks(event: Event) -> str | None:
    """Return the new state of the open tasks of a recipe after an event; None if they stay open."""
    if isinstance(event, RecipeReserved):
        return None if event.reason is None else "aborted"
    return str(event.STATE) if isinstance(event, RecipeCancelled | RecipeAborted) else None
