"""Specifications of a job and its parts: the content of the events of a submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from domain.admission.dependencies import Dependency
from domain.contention.locks import NO_LOCKS, Locks
from domain.priority import Priority

# The tag of jobs whose stored document has no `retention_tag`.
DEFAULT_RETENTION_TAG: Final = "scratch"


@dataclass(frozen=True)
class TaskSpec:
    """A task; `fetch` is `{"url": …}`, optionally with `"subdir"`."""

    name: str
    role: str | None
    params: tuple[tuple[str, str], ...]
    fetch: Mapping[str, str] | None = None


@dataclass(frozen=True)
class RecipeSpec:
    """A recipe of a job. Both requirements are canonical text (`domain.requirements`).

    `distro` is a custom distro, as in `RecipeNew`; `distro_requires` is then empty.
    Only guests have `guestname` and `guestargs`, and only hosts have `guests`.
    `locks` are those that the recipe itself declares, without those of its tasks and guests.
    """

    whiteboard: str
    role: str | None
    kernel_options: str
    kernel_options_post: str
    ks_meta: str
    host_requires: str
    distro_requires: str
    autopick_random: bool
    autopick_pools: tuple[str, ...]
    tasks: tuple[TaskSpec, ...]
    distro: Mapping[str, str] | None = None
    reservesys: Mapping[str, int | str] | None = None
    guestname: str | None = None
    guestargs: str | None = None
    guests: tuple[RecipeSpec, ...] = ()
    locks: Locks = NO_LOCKS


@dataclass(frozen=True)
class RecipeSetSpec:
    """A recipe set of a job, with its own dependencies and reasons; those of its job apply to it, too.

    A `key` names the set within its job. A `preemptible` set may lose its systems after its start, too.
    """

    priority: Priority
    recipes: tuple[RecipeSpec, ...]
    depends_on: tuple[Dependency, ...] = ()
    reasons: tuple[str, ...] = ()
    key: str | None = None
    preemptible: bool = False


@dataclass(frozen=True)
class JobSpec:
    """A job with its normalised `document`; `owner` is None if the submitter owns the job.

    `partition`, `queue` and `key` are None if the job names none. A job that `is_open` takes further sets.

    Numbers of dependencies below 0 count back from the recipe set that has the dependency.
    """

    whiteboard: str
    owner: str | None
    group: str | None
    retention_tag: str
    product: str | None
    recipe_sets: tuple[RecipeSetSpec, ...]
    document: dict[str, Any]
    depends_on: tuple[Dependency, ...] = ()
    reasons: tuple[str, ...] = ()
    partition: str | None = None
    queue: str | None = None
    key: str | None = None
    is_open: bool = False
