"""A job as it was accepted, reduced to what scheduling needs; `document` keeps the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from domain.priority import Priority

# Of jobs that were stored without one.
DEFAULT_RETENTION_TAG: Final = "scratch"


@dataclass(frozen=True)
class TaskSpec:
    """`fetch` is {"url", "subdir"?}."""

    name: str
    role: str | None
    params: tuple[tuple[str, str], ...]
    fetch: Mapping[str, str] | None = None


@dataclass(frozen=True)
class RecipeSpec:
    """Both requirements are canonical text (`domain.requirements`).

    `distro` is a distro of one's own, as `RecipeNew` has it; `distro_requires` then asks nothing.
    `guestname` and `guestargs` are those of a guest, which has no guests itself.
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


@dataclass(frozen=True)
class RecipeSetSpec:
    priority: Priority
    recipes: tuple[RecipeSpec, ...]


@dataclass(frozen=True)
class JobSpec:
    """`owner` is None where the submitter owns the job."""

    whiteboard: str
    owner: str | None
    group: str | None
    retention_tag: str
    product: str | None
    recipe_sets: tuple[RecipeSetSpec, ...]
    document: dict[str, Any]
