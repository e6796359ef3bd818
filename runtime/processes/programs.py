"""The processes that `labledger up` runs, and what each is told."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from runtime.embedded.database import without_libpq
from runtime.processes.supervisor import Program
from runtime.settings import Settings, variable

SERVICES = ("serve", "scheduler", "projector")
SIMULATOR = "lab simulate"
# Those for whom everybody waits.
SPARED = ("serve", "scheduler")


def program(command: str, settings: Settings) -> Program:
    """A command of ours with exactly these settings, less the owner's database: no service needs it."""
    inherited = os.environ if settings.owner_database_url is None else without_libpq(os.environ)
    known = {variable(name) for name in Settings.__dataclass_fields__}
    others = {name: value for name, value in inherited.items() if name not in known}
    # On the terminal of `up` the requests of its own simulated lab would bury all else.
    told = replace(settings, owner_database_url=None, access_log=bool(settings.access_log)).environment()
    argv = [sys.executable, "-m", "cli", *command.split()]
    return Program(command, argv, {**others, **told}, spared=command in SPARED)
