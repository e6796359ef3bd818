"""The programs that `labledger up` runs, and their environments."""

from __future__ import annotations

import os
from dataclasses import replace

from runtime.embedded.database import without_libpq
from runtime.processes.child import python_module
from runtime.processes.supervisor import Program
from runtime.settings import Settings, variable

SERVICES = ("serve", "scheduler", "projector", "notifier")
SIMULATOR = "lab simulate"
# Programs with a prestarted spare, because their restart delays all requests. `scheduler` needs none: it is
# the parent of the scheduler processes, and starts a new one without loading its code again.
WITH_SPARE = ("serve",)


def program(command: str, settings: Settings, *options: str) -> Program:
    """Return a command with exactly these settings and options, but without the owner's database URL."""
    inherited = os.environ if settings.owner_database_url is None else without_libpq(os.environ)
    setting_variables = {variable(name) for name in Settings.__dataclass_fields__}
    others = {name: value for name, value in inherited.items() if name not in setting_variables}
    # By default no access log under `up`: the requests of the simulated lab would dominate it.
    given = replace(settings, owner_database_url=None, access_log=bool(settings.access_log)).environment()
    argv = python_module("cli", *command.split(), *options)
    return Program(command, argv, {**others, **given}, has_spare=command in WITH_SPARE)
