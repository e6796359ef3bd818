"""The job document from options, equal to that of `bkr workflow-simple`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from cli.workflow.installing import installing
from cli.workflow.not_here import refused
from cli.workflow.requires import distro_requires, host_requires, is_forced, of_arch
from cli.workflow.tasks import ALONE, tasks
from cli.workflow.told import Document, Told, Wrong, warn

T = TypeVar("T")
ArchesOf = Callable[[Document], Sequence[str]]


class _Parts(NamedTuple):
    """The distro requirement, the tasks of each role, and the parts that all recipes share."""

    distro: Document
    tasks_by_role: dict[str, list[Document] | None]
    of_all: Document


def job_document(told: Told, arches_of: ArchesOf) -> Document:
    """Return a document with a recipe set for each architecture.

    Without `--arch`, `arches_of` finds the architectures of the trees that the distro requirement matches.
    Raises `Wrong` with every fault of the options.
    """
    parts = _read(told)
    document = {
        "whiteboard": told["whiteboard"],
        "user": told["job_owner"],
        "group": told["job_group"],
        "retention_tag": told["retention_tag"],
        "product": told["product"],
        "notify": list(told["cc"]),
        "recipe_sets": [
            {
                "priority": told["priority"],
                "recipes": [_recipe(told, parts, arch, role) for role in _roles(told)],
            }
            for arch in told["arch"] or arches_of(parts.distro)
        ],
    }
    return _given(document)


def _read(told: Told) -> _Parts:
    """Return the parts of the recipes. Raises `Wrong` with every fault of the options."""
    faults = list(refused(told))

    def made(make: Callable[[Told], T]) -> T | None:
        try:
            return make(told)
        except Wrong as wrong:
            faults.append(str(wrong))
            return None

    distro = made(distro_requires)
    tasks_by_role = {role: made(partial(tasks, role=role)) for role in dict.fromkeys(_roles(told))}
    of_all = {
        "host_requires": made(host_requires),
        "reservesys": _reservesys(told),
        **(made(installing) or {}),
    }
    if faults or distro is None:
        raise Wrong("\n".join(dict.fromkeys(faults)))
    return _Parts(distro, tasks_by_role, of_all)


def _roles(told: Told) -> list[str]:
    """Return the role of each recipe of a set."""
    return ["SERVERS"] * told["servers"] + ["CLIENTS"] * told["clients"] or [ALONE]


def _recipe(told: Told, parts: _Parts, arch: str, role: str) -> Document:
    choice = {"random": told["random"], "pools": list(told["autopick"])}
    recipe = {
        **parts.of_all,
        "distro_requires": of_arch(parts.distro, arch),
        "whiteboard": told["whiteboard"],
        "tasks": parts.tasks_by_role[role],
        "autopick": None if is_forced(told) else choice,
        "watchdog": {"panic": "ignore"} if told["ignore_panic"] else None,
    }
    return _given(recipe)


def _reservesys(told: Told) -> Document | None:
    if told["reserve"]:
        return _given({"duration_seconds": told["reserve_duration"]})
    if told["reserve_duration"] is not None:
        warn(told, "--reserve-duration has no effect without --reserve")
    return None


def _given(document: Document) -> Document:
    return {name: value for name, value in document.items() if value is not None and value != ""}
