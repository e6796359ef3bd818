"""Which tasks a recipe runs, from options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final

from api.cli.workflow.told import Document, Told, Wrong, text_of

INSTALL_TASK: Final = "/distribution/check-install"
PACKAGES_TASK: Final = "/distribution/pkginstall"
# Option -> the task that does it.
BY_OPTION: Final = {"ndump": "/kernel/networking/ndnc", "kdump": "/kernel/networking/kdump"}


def tasks(told: Told) -> list[Document]:
    """Raises `Wrong`. That the installation is checked, or something prepared, alone is nothing to do."""
    of_file, faults = _of_file(told["taskfile"]) if told["taskfile"] else ([], [])
    named = [*told["task"], *of_file]
    faults += [
        f"--taskparam {given!r}: must be NAME=VALUE" for given in told["taskparam"] if "=" not in given[1:]
    ]
    if not named and not told["reserve"]:
        faults.append("--task must say what to run, or --reserve that the system is kept")
    all_of_them = [*_before(told, named), *({"name": name, "params": {}} for name in named)]
    if not all_of_them and told["reserve"]:
        faults.append("--suppress-install-task leaves no task at all")
    if faults:
        raise Wrong("\n".join(faults))
    params = dict(given.split("=", 1) for given in told["taskparam"])
    return [{**task, "params": {**params, **task["params"]}} for task in all_of_them]


def _before(told: Told, named: list[str]) -> Iterator[Document]:
    """What comes before those that are named; the check of the installation first, unless they have it."""
    if not told["suppress_install_task"] and INSTALL_TASK not in named:
        yield {"name": INSTALL_TASK, "params": {}}
    if told["install"]:
        yield {"name": PACKAGES_TASK, "params": {"PKGARGNAME": " ".join(told["install"])}}
    for option, name in BY_OPTION.items():
        if told[option]:
            yield {"name": name, "params": {}}


def _of_file(file: IO[bytes]) -> tuple[list[str], list[str]]:
    """The tasks in it, and what is wrong with its other lines."""
    try:
        lines = [line.strip() for line in text_of("--taskfile", file).splitlines()]
    except Wrong as wrong:
        return [], [str(wrong)]
    faults = [
        f"--taskfile {file.name}, line {number}: a task begins with /, and a comment with #"
        for number, line in enumerate(lines, start=1)
        if line and line[0] not in "/#"
    ]
    return [line for line in lines if line.startswith("/")], faults
