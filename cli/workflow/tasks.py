"""The tasks of a recipe, from options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cli.workflow.options import Document, InvalidOptions, Options, text_of, warn

# Role of the preparing tasks, and of the tasks of a recipe that is alone in its set.
STANDALONE: Final = "STANDALONE"
INSTALL_TASK: Final = "/distribution/check-install"
PACKAGES_TASK: Final = "/distribution/pkginstall"
TASK_BY_OPTION: Final = {"ndump": "/kernel/networking/ndnc", "kdump": "/kernel/networking/kdump"}


def tasks(options: Options, role: str) -> list[Document]:
    """Return the tasks of a recipe: first those that prepare the system, then the requested ones.

    As in `bkr`, only the requested tasks have the parameters and the role. Raise `InvalidOptions` if no task
    is requested, except with --reserve, which needs at least one preparing task.
    """
    named = [*options["task"], *_tasks_of_file(options)]
    faults = [
        f"--taskparam {given!r}: must be NAME=VALUE" for given in options["taskparam"] if "=" not in given[1:]
    ]
    if not named and not options["reserve"]:
        faults.append("--task, --taskfile or --reserve is required")
    before = list(_preparing_tasks(options, named))
    if not before and not named and options["reserve"]:
        faults.append("--suppress-install-task leaves no task")
    if faults:
        raise InvalidOptions("\n".join(faults))
    params = dict(given.split("=", 1) for given in options["taskparam"])
    return [*before, *({"name": name, "role": role, "params": params} for name in named)]


def _preparing_tasks(options: Options, named: list[str]) -> Iterator[Document]:
    """Yield the tasks that prepare the system: the check of the installation first, if not yet in `named`."""
    if not options["suppress_install_task"] and INSTALL_TASK not in named:
        yield {"name": INSTALL_TASK, "role": STANDALONE}
    if options["install"]:
        packages = {"PKGARGNAME": " ".join(options["install"])}
        yield {"name": PACKAGES_TASK, "role": STANDALONE, "params": packages}
    for option, name in TASK_BY_OPTION.items():
        if options[option]:
            yield {"name": name, "role": STANDALONE}


def _tasks_of_file(options: Options) -> list[str]:
    """Return the tasks in a file. As in `bkr`, a task is a line whose first character is a slash."""
    file = options["taskfile"]
    if file is None:
        return []
    lines = text_of("--taskfile", file).splitlines()
    for number, line in enumerate(lines, start=1):
        if line.strip() and line[0] not in "/#":
            warn(options, f"--taskfile {file.name}, line {number}: not a task: must begin with /")
    return [line.rstrip() for line in lines if line.startswith("/")]
