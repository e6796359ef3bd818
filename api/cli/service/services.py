"""The parts of a running Labledger, each as its own process: migrate, serve, scheduler, projector."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from importlib.metadata import version
from typing import Any

import click

from api import root
from api.processes.logs import set_up_logging
from api.settings import MIGRATE, PROJECTOR, SCHEDULER, SERVE, Settings, flag, variable
from domain.errors import LabledgerError

Command = Callable[..., None]

logger = logging.getLogger(__name__)


def _flags(process: str) -> Callable[[Command], Command]:
    """A flag for each setting that the process reads. Secrets have none: flags are seen by all."""

    def add(command: Command) -> Command:
        for setting in reversed(fields(Settings)):
            if process in setting.metadata["readers"] and not setting.metadata["secret"]:
                about = f"{setting.metadata['about']} ({variable(setting.name)})"
                command = click.option(flag(setting.name), help=about[0].upper() + about[1:])(command)
        return command

    return add


@contextmanager
def _logged(settings: Settings, process: str) -> Iterator[None]:
    """What ends the process is the last thing in its log. Raises what an operator can do something about."""
    root.needed(settings.database_url)
    set_up_logging(settings, process)
    logger.info("started", extra={"version": version("labledger")})
    try:
        yield
    except LabledgerError:
        raise
    except Exception:
        logger.critical("ended by a fault", exc_info=True)
        raise SystemExit(1) from None


@click.command()
@_flags(MIGRATE)
def migrate(**flags: Any) -> None:
    """Bring the database up to date."""
    applied = root.migrate(Settings.read(**flags))
    for name in applied:
        click.echo(f"applied {name}")
    if not applied:
        click.echo("nothing to do")


@click.command()
@_flags(SERVE)
def serve(**flags: Any) -> None:
    """Serve the HTTP API."""
    from api.rest.serving.server import Server

    settings = Settings.read(**flags)
    with _logged(settings, SERVE):
        Server(settings, lambda: root.http_application(settings)).run()


@click.command()
@_flags(SCHEDULER)
def scheduler(**flags: Any) -> None:
    """Decide which recipe gets which system."""
    settings = Settings.read(**flags)
    with _logged(settings, SCHEDULER):
        root.run_scheduler(settings)


@click.command()
@_flags(PROJECTOR)
def projector(**flags: Any) -> None:
    """Keep the read models up to the log."""
    settings = Settings.read(**flags)
    with _logged(settings, PROJECTOR):
        root.run_projector(settings)
