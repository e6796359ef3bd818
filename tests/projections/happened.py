"""Events for tests: a lab with systems, and a set of recipes with its course."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.directory.events import DistroTreeRegistered, LabControllerRegistered
from domain.events import Event
from domain.job.events import JobSubmitted
from domain.recipe.events import (
    LocksNarrowed,
    RecipeAssigned,
    RecipeInstalling,
    RecipeLocked,
    RecipeNew,
    RecipeQueued,
    RecipeRunning,
    RecipeScheduled,
    RecipeWaiting,
)
from domain.recipe_set.events import RecipeSetSubmitted
from domain.system.events import SystemRegistered, SystemScheduled, SystemWaiting
from tests.domain.recipe.samples import recipe_new

LAB = "lab-1"
NOTHING: dict[str, Any] = {}
Happened = tuple[str, Event]


def lab(name: str = LAB, *, enabled: bool = True) -> Happened:
    return f"lab-controller/{name}", LabControllerRegistered(enabled=enabled)


def registered(fqdn: str, condition: str = "Automated", lab_controller: str = LAB) -> Happened:
    return f"system/{fqdn}", SystemRegistered(lab_controller, "ada", condition, {"memory_mb": 1024})


def tree(number: int, **urls: list[str]) -> Happened:
    event = DistroTreeRegistered(
        "Linux-1", "Linux", "1", "x86_64", "Server", [], urls, "2026-01-01T00:00:00Z"
    )
    return f"distro-tree/{number}", event


def of(kind: str, name: object, *events: Event) -> list[Happened]:
    """Return events of one subject."""
    return [(f"{kind}/{name}", event) for event in events]


def submitted(*recipes: RecipeNew, priority: str = "Normal") -> list[Happened]:
    """Return job 1 with set 1 of these recipes, numbered from 1, with tasks from 11, 21, ..."""
    ids = tuple(range(1, len(recipes) + 1))
    return [
        ("job/1", JobSubmitted("ada", "ada", None, "", (1,), {})),
        ("recipe-set/1", RecipeSetSubmitted(1, priority, ids)),
        *((f"recipe/{number}", recipe) for number, recipe in zip(ids, recipes, strict=True)),
    ]


def host(number: int, **fields: Any) -> RecipeNew:
    tasks = ({"task_id": 10 * number + 1, "name": "/check", "role": None, "params": {}},)
    return recipe_new(number, **{"job_id": 1, "recipe_set_id": 1, "tasks": tasks, **fields})


def guest(number: int, host_id: int) -> RecipeNew:
    return host(number, host_recipe_id=host_id, guestname=f"g{number}", guestargs="--ram=1024")


def queued(*recipe_ids: int, reason: str = "busy") -> list[Happened]:
    return [(f"recipe/{number}", RecipeQueued(reason)) for number in recipe_ids]


def assigned(recipe_id: int, reason: str | None = None) -> Happened:
    return f"recipe/{recipe_id}", RecipeAssigned(LAB, reason)


def scheduled(fqdn: str, *recipe_ids: int) -> list[Happened]:
    """Return the events that schedule a host and its guests."""
    return [(f"recipe/{number}", RecipeScheduled(fqdn, LAB)) for number in recipe_ids]


def waiting(fqdn: str, *recipe_ids: int, locks: Mapping[str, Any] | None = NOTHING) -> list[Happened]:
    """Return the events of waiting recipes, which hold these locks, or wait for locks if it is None."""
    return [(f"recipe/{number}", RecipeWaiting(fqdn, locks)) for number in recipe_ids]


def locked(recipe_id: int, locks: Mapping[str, Any] = NOTHING) -> Happened:
    return f"recipe/{recipe_id}", RecipeLocked(locks)


def narrowed(recipe_id: int, locks: Mapping[str, Any] = NOTHING) -> Happened:
    return f"recipe/{recipe_id}", LocksNarrowed(locks)


def running(fqdn: str, *recipe_ids: int) -> list[Happened]:
    return [
        (f"recipe/{number}", event(fqdn))
        for number in recipe_ids
        for event in (RecipeInstalling, RecipeRunning)
    ]


def placed(fqdn: str, recipe_id: int) -> list[Happened]:
    """Return the events that give a system to a host."""
    return [*scheduled(fqdn, recipe_id), (f"system/{fqdn}", SystemScheduled(recipe_id))]


def started(fqdn: str, recipe_id: int) -> list[Happened]:
    """Return the events of a host and its system, from the grant until the host runs."""
    return [
        *placed(fqdn, recipe_id),
        *waiting(fqdn, recipe_id),
        (f"system/{fqdn}", SystemWaiting(recipe_id)),
        *running(fqdn, recipe_id),
    ]
