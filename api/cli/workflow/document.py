"""The document of a job from options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from api.cli.workflow.installing import installing
from api.cli.workflow.not_here import refused
from api.cli.workflow.requires import distro_requires, host_requires
from api.cli.workflow.tasks import tasks
from api.cli.workflow.told import Document, Told, Wrong

T = TypeVar("T")


def job_document(told: Told) -> Document:
    """Raises `Wrong`, with all that is wrong."""
    faults = list(refused(told))

    def made(make: Callable[[Told], T]) -> T | None:
        try:
            return make(told)
        except Wrong as wrong:
            faults.append(str(wrong))
            return None

    # A recipe set for each arch; without one a tree of any arch will do.
    distros = [made(partial(distro_requires, arch=arch)) for arch in told["arch"] or (None,)]
    parts = {
        "host_requires": made(host_requires),
        "tasks": made(tasks),
        "reservesys": made(_reservesys),
        **(made(installing) or {}),
    }
    if faults:
        raise Wrong("\n".join(dict.fromkeys(faults)))
    document = {
        "whiteboard": told["whiteboard"],
        "user": told["job_owner"],
        "group": told["job_group"],
        "retention_tag": told["retention_tag"],
        "product": told["product"],
        "notify": list(told["cc"]),
        "recipe_sets": [_recipe_set(told, {**parts, "distro_requires": distro}) for distro in distros],
    }
    return _given(document)


def _recipe_set(told: Told, parts: Document) -> Document:
    together = (("SERVERS", told["servers"]), ("CLIENTS", told["clients"]))
    roles = [role for role, number in together for _ in range(number)] or ["STANDALONE"]
    return {"priority": told["priority"], "recipes": [_recipe(told, parts, role) for role in roles]}


def _recipe(told: Told, parts: Document, role: str) -> Document:
    recipe = {
        **parts,
        "role": role,
        "tasks": [{**task, "role": role} for task in parts["tasks"]],
        "autopick": {"random": told["random"], "pools": list(told["autopick"])},
        "watchdog": {"panic": "ignore"} if told["ignore_panic"] else None,
    }
    return _given(recipe)


def _reservesys(told: Told) -> Document | None:
    if told["reserve"]:
        return _given({"duration_seconds": told["reserve_duration"]})
    if told["reserve_duration"] is not None:
        raise Wrong("--reserve-duration needs --reserve")
    return None


def _given(document: Document) -> Document:
    return {name: value for name, value in document.items() if value is not None and value != ""}
