"""The job document from options, equal to that of `bkr workflow-simple`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from cli.arguments.declarations import DeclarationOptions
from cli.workflow.installing import installing
from cli.workflow.options import Document, InvalidOptions, Options, refused, warn
from cli.workflow.requires import distro_requires, host_requires, is_forced, of_arch
from cli.workflow.tasks import STANDALONE, tasks

T = TypeVar("T")
ArchesOf = Callable[[Document], Sequence[str]]


class _Parts(NamedTuple):
    """The distro requirement, the tasks of each role, and the parts that all recipes share."""

    distro: Document
    tasks_by_role: dict[str, list[Document] | None]
    shared: Document


def job_document(options: Options, arches_of: ArchesOf) -> Document:
    """Return a document with a recipe set for each architecture.

    Without `--arch`, `arches_of` finds the architectures of the trees that the distro requirement matches.
    Raise `InvalidOptions` with every fault of the options.
    """
    parts = _read(options)
    declared = _declarations(options)
    document = {
        "whiteboard": options["whiteboard"],
        "user": options["job_owner"],
        "group": options["job_group"],
        "retention_tag": options["retention_tag"],
        "product": options["product"],
        "notify": list(options["cc"]),
        **declared.of_job(),
        "recipe_sets": [
            {
                "priority": options["priority"],
                "recipes": [_recipe(options, parts, arch, role) for role in _roles(options)],
            }
            for arch in options["arch"] or arches_of(parts.distro)
        ],
    }
    return _without_empty(document)


def _read(options: Options) -> _Parts:
    faults = list(refused(options))

    def collect(build: Callable[[Options], T]) -> T | None:
        try:
            return build(options)
        except InvalidOptions as error:
            faults.append(str(error))
            return None

    distro = collect(distro_requires)
    tasks_by_role = {role: collect(partial(tasks, role=role)) for role in dict.fromkeys(_roles(options))}
    shared = {
        "host_requires": collect(host_requires),
        "reservesys": _reservesys(options),
        **(collect(installing) or {}),
    }
    if faults or distro is None:
        raise InvalidOptions("\n".join(dict.fromkeys(faults)))
    return _Parts(distro, tasks_by_role, shared)


def _declarations(options: Options) -> DeclarationOptions:
    return DeclarationOptions(**{name: options[name] for name in DeclarationOptions._fields})


def _roles(options: Options) -> list[str]:
    return ["SERVERS"] * options["servers"] + ["CLIENTS"] * options["clients"] or [STANDALONE]


def _recipe(options: Options, parts: _Parts, arch: str, role: str) -> Document:
    choice = {"random": options["random"], "pools": list(options["autopick"])}
    recipe = {
        **parts.shared,
        **_declarations(options).of_recipe(),
        "distro_requires": of_arch(parts.distro, arch),
        "whiteboard": options["whiteboard"],
        "tasks": parts.tasks_by_role[role],
        "autopick": None if is_forced(options) else choice,
        "watchdog": {"panic": "ignore"} if options["ignore_panic"] else None,
    }
    return _without_empty(recipe)


def _reservesys(options: Options) -> Document | None:
    if options["reserve"]:
        return _without_empty({"duration_seconds": options["reserve_duration"]})
    if options["reserve_duration"] is not None:
        warn(options, "--reserve-duration has no effect without --reserve")
    return None


def _without_empty(document: Document) -> Document:
    return {name: value for name, value in document.items() if value is not None and value != ""}
