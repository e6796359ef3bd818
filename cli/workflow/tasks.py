"""The tasks of a recipe, from options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cli.workflow.told import Document, Told, Wrong, text_of, warn

# Role of the tasks of a recipe that is alone in its set.
ALONE: Final = "STANDALONE"
INSTALL_TASK: Final = "/distribution/check-install"
PACKAGES_TASK: Final = "/distribution/pkginstall"
# Option -> its task.
BY_OPTION: Final = {"ndump": "/kernel/networking/ndnc", "kdump": "/kernel/networking/kdump"}


def tasks(told: Told, role: str) -> list[Document]:
    """Return the tasks of a recipe with this role.

    Parameters and role are those of the requested tasks alone, as in `bkr`: the tasks that prepare the system
    run without them. Raise `Wrong`, also if only such tasks are left.
    """
    named = [*told["task"], *_of_file(told)]
    faults = [
        f"--taskparam {given!r}: must be NAME=VALUE" for given in told["taskparam"] if "=" not in given[1:]
    ]
    if not named and not told["reserve"]:
        faults.append("--task, --taskfile or --reserve is required")
    before = list(_before(told, named))
    if not before and not named and told["reserve"]:
        faults.append("--suppress-install-task leaves no task")
    if faults:
        raise Wrong("\n".join(faults))
    params = dict(given.split("=", 1) for given in told["taskparam"])
    return [*before, *({"name": name, "role": role, "params": params} for name in named)]


def _before(told: Told, named: list[str]) -> Iterator[Document]:
    """Yield the tasks that prepare the system, and first the check of the installation unless requested."""
    if not told["suppress_install_task"] and INSTALL_TASK not in named:
        yield {"name": INSTALL_TASK, "role": ALONE}
    if told["install"]:
        yield {"name": PACKAGES_TASK, "role": ALONE, "params": {"PKGARGNAME": " ".join(told["install"])}}
    for option, name in BY_OPTION.items():
        if told[option]:
            yield {"name": name, "role": ALONE}


def _of_file(told: Told) -> list[str]:
    """Return the tasks in a file. As in `bkr`, a task is a line whose first character is a slash."""
    file = told["taskfile"]
    if file is None:
        return []
    lines = text_of("--taskfile", file).splitlines()
    for number, line in enumerate(lines, start=1):
        if line.strip() and line[0] not in "/#":
            warn(told, f"--taskfile {file.name}, line {number}: not a task, because it does not begin with /")
    return [line.rstrip() for line in lines if line.startswith("/")]
