"""The document of a job from options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from api.cli.workflow.requires import Told, Wrong, distro_requires, host_requires

Document = dict[str, Any]
T = TypeVar("T")

INSTALL_TASK = "/distribution/check-install"


def job_document(told: Told) -> Document:
    """Raises `Wrong`, with all that is wrong."""
    faults: list[str] = []

    def made(make: Callable[[Told], T]) -> T | None:
        try:
            return make(told)
        except Wrong as wrong:
            faults.append(str(wrong))
            return None

    # A recipe set for each arch; without one a tree of any arch will do.
    distros = [made(partial(distro_requires, arch=arch)) for arch in told["arch"] or (None,)]
    parts = {"host_requires": made(host_requires), "tasks": made(_tasks), "reservesys": made(_reservesys)}
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
    method = told["method"] and f"method={told['method']}"
    recipe = {
        **parts,
        "role": role,
        "tasks": [{**task, "role": role} for task in parts["tasks"]],
        "kernel_options": told["kernel_options"],
        "kernel_options_post": told["kernel_options_post"],
        "ks_meta": " ".join(filter(None, (method, told["ks_meta"]))),
        "autopick": {"random": told["random"], "pools": list(told["autopick"])},
        "watchdog": {"panic": "ignore"} if told["ignore_panic"] else None,
        "ks_appends": list(told["ks_append"]),
        "repos": [{"name": f"repo_{number}", "url": url} for number, url in enumerate(told["repo"])],
    }
    return _given(recipe)


def _tasks(told: Told) -> list[Document]:
    """Installation is checked first, unless somebody says otherwise; that alone is nothing to do."""
    faults = [
        f"--taskparam {given!r}: must be NAME=VALUE" for given in told["taskparam"] if "=" not in given[1:]
    ]
    named = list(told["task"])
    if not named and not told["reserve"]:
        faults.append("--task must say what to run, or --reserve that the system is kept")
    if not told["suppress_install_task"] and INSTALL_TASK not in named:
        named.insert(0, INSTALL_TASK)
    if not named and told["reserve"]:
        faults.append("--suppress-install-task leaves no task at all")
    if faults:
        raise Wrong("\n".join(faults))
    params = dict(given.split("=", 1) for given in told["taskparam"])
    return [{"name": name, "params": params} for name in named]


def _reservesys(told: Told) -> Document | None:
    if told["reserve"]:
        return _given({"duration_seconds": told["reserve_duration"]})
    if told["reserve_duration"] is not None:
        raise Wrong("--reserve-duration needs --reserve")
    return None


def _given(document: Document) -> Document:
    return {name: value for name, value in document.items() if value is not None and value != ""}
