"""The programs that `labledger up` runs, and their environments."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from runtime.embedded.database import without_libpq
from runtime.processes.supervisor import Program
from runtime.settings import Settings, variable

SERVICES = ("serve", "scheduler", "projector")
SIMULATOR = "lab simulate"
# Programs whose restart delays all requests or decisions.
SPARED = ("serve", "scheduler")


def program(command: str, settings: Settings) -> Program:
    """Return a command with exactly these settings, except the owner's database URL: no service needs it."""
    inherited = os.environ if settings.owner_database_url is None else without_libpq(os.environ)
    of_settings = {variable(name) for name in Settings.__dataclass_fields__}
    others = {name: value for name, value in inherited.items() if name not in of_settings}
    # Under `up`, the requests of the simulated lab would dominate the access log.
    given = replace(settings, owner_database_url=None, access_log=bool(settings.access_log)).environment()
    argv = [sys.executable, "-m", "cli", *command.split()]
    return Program(command, argv, {**others, **given}, spared=command in SPARED)
