"""What happens to a recipe. Every state has an event of its own, so that the log reads as its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from domain.events import Event, event


@event("recipe.new")
class RecipeNew(Event):
    """`tasks` are {"task_id", "name", "role", "params"}; `distro_tree_id` is null when no tree fits."""

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


@event("recipe.queued")
class RecipeQueued(Event):
    STATE: ClassVar[str] = "queued"
    reason: str


@event("recipe.scheduled")
class RecipeScheduled(Event):
    STATE: ClassVar[str] = "scheduled"
    system: str
    lab_controller: str


@event("recipe.waiting")
class RecipeWaiting(Event):
    STATE: ClassVar[str] = "waiting"
    system: str


@event("recipe.installing")
class RecipeInstalling(Event):
    STATE: ClassVar[str] = "installing"
    system: str


@event("recipe.running")
class RecipeRunning(Event):
    STATE: ClassVar[str] = "running"
    system: str


@event("recipe.completed")
class RecipeCompleted(Event):
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


@event("recipe.task-result")
class TaskResult(Event):
    task_id: int
    result: str
    message: str
    score: float | None
    log_urls: Sequence[str]


@event("recipe.task-completed")
class TaskCompleted(Event):
    task_id: int


@event("recipe.task-aborted")
class TaskAborted(Event):
    task_id: int
