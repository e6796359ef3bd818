"""The parts of a running Labledger, each as its own process: migrate, serve, scheduler, projector."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import click

from api import root
from cli.arguments.setting_flags import flags
from domain.errors import LabledgerError
from runtime.embedded.ports import is_free_within
from runtime.processes.logs import set_up_logging
from runtime.processes.turn import await_turn
from runtime.settings import MIGRATE, PROJECTOR, SCHEDULER, SERVE, Settings, require_url

# Of a predecessor that was killed.
PORT_SECONDS = 2.0

# Where the processors do not suffice for all, read models may be late; grants and answers may not.
PROJECTOR_NICENESS = 5

logger = logging.getLogger(__name__)


@contextmanager
def _logged(settings: Settings, process: str) -> Iterator[None]:
    """What ends the process is the last thing in its log. Raises what an operator can do something about.

    All code is read by now: who was started before it is wanted waits here.
    """
    require_url(settings.database_url)
    set_up_logging(settings, process)
    await_turn()
    logger.info("started", extra={"version": version("labledger")})
    try:
        yield
    except LabledgerError:
        raise
    except Exception:
        logger.critical("ended by a fault", exc_info=True)
        raise SystemExit(1) from None


@click.command()
@flags(MIGRATE)
def migrate(**given: Any) -> None:
    """Bring the database up to date."""
    applied = root.migrate(Settings.read(**given))
    for name in applied:
        click.echo(f"applied {name}")
    if not applied:
        click.echo("nothing to do")


@click.command()
@flags(SERVE)
def serve(**given: Any) -> None:
    """Serve the HTTP API."""
    # Both before workers are forked: one that is started again need not read the code again.
    import api.rest.app  # noqa: F401
    from api.rest.serving.server import Server

    settings = Settings.read(**given)
    with _logged(settings, SERVE):
        # gunicorn looks once a second.
        is_free_within(PORT_SECONDS, settings.port, settings.host)
        Server(settings, lambda: root.http_application(settings)).run()


@click.command()
@flags(SCHEDULER)
def scheduler(**given: Any) -> None:
    """Decide which recipe gets which system."""
    settings = Settings.read(**given)
    with _logged(settings, SCHEDULER):
        root.run_scheduler(settings)


@click.command()
@flags(PROJECTOR)
def projector(**given: Any) -> None:
    """Keep the read models up to the log."""
    settings = Settings.read(**given)
    with _logged(settings, PROJECTOR):
        os.nice(PROJECTOR_NICENESS)
        root.run_projector(settings)
