"""Processes that work on a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.harness.databases import TestDatabase
from tests.harness.programs import Program, program

Start = Callable[..., Program]

# A scheduler has no parent here, so that signals reach it.
COMMANDS = {
    "scheduler": ("tests.workers.one_scheduler",),
    "projector": ("cli", "projector"),
    "notifier": ("cli", "notifier"),
}


@pytest.fixture
def start(database: TestDatabase) -> Iterator[Start]:
    """Return a function that starts a scheduler or a projector, with LABLEDGER_* settings.

    Processes that still run at the end of the test are killed.
    """
    with ExitStack() as stack:
        yield lambda name, **settings: stack.enter_context(
            program(*COMMANDS[name], LABLEDGER_DATABASE_URL=database.service_url, **settings)
        )
