"""`labledger migrate`, `serve`, `scheduler`, `projector`, `notifier`: the services, each as one process."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import click

from cli.arguments.setting_flags import flags
from domain.errors import LabledgerError
from runtime.embedded.ports import is_free_within
from runtime.processes.logs import set_up_logging
from runtime.processes.prestart import await_turn
from runtime.processes.priority import lower_priority
from runtime.settings import MIGRATE, NOTIFIER, PROJECTOR, SCHEDULER, SERVE, Settings, require_url

# Maximum wait for the port of a predecessor that was killed.
PORT_SECONDS = 2.0

# On overloaded processors the read models fall behind, so that grants and answers do not.
PROJECTOR_NICENESS = 5
# Nothing waits for the notifier.
NOTIFIER_NICENESS = 10

logger = logging.getLogger(__name__)


@contextmanager
def _logged(settings: Settings, process: str) -> Iterator[None]:
    """Log the start of a process, and the unexpected error that ends it. Raise LabledgerError unchanged.

    A standby process waits here for its turn, after it has imported all modules.
    """
    require_url(settings.database_url)
    # The name of the sessions in `pg_stat_activity`, also of the processes that this one starts.
    os.environ["PGAPPNAME"] = f"labledger {process}"
    set_up_logging(settings, process)
    await_turn()
    logger.info("started", extra={"version": version("labledger")})
    try:
        yield
    except LabledgerError:
        raise
    except Exception:
        logger.critical("ended by an unexpected error", exc_info=True)
        raise SystemExit(1) from None


@click.command()
@flags(MIGRATE)
def migrate(**given: Any) -> None:
    """Migrate the database to the schema of this version, and print the applied migrations."""
    from api import database_setup

    applied = database_setup.migrate(Settings.read(**given))
    for name in applied:
        click.echo(f"applied {name}")
    if not applied:
        click.echo("nothing to do")


@click.command()
@flags(SERVE)
def serve(**given: Any) -> None:
    """Run the HTTP API."""
    # Import before the workers are forked, so that a restarted worker need not import again.
    from api.rest.serving.server import HttpServer
    from api.root import http_application
    from api.shared_numbers import shared_by

    settings = Settings.read(**given)
    if settings.ldap_urls:
        from api.ldap.options import ldap_options

        # All faults at once, before there are workers that would each report them.
        ldap_options(settings)
    with _logged(settings, SERVE):
        # Wait for a free port here, because gunicorn retries only once a second.
        is_free_within(PORT_SECONDS, settings.port, settings.host)
        shared = shared_by(settings.api_workers)
        HttpServer(settings, lambda: http_application(settings, shared), shared.leave).run()


@click.command()
@click.option(
    "--partition",
    "names",
    multiple=True,
    metavar="NAME",
    help="Run the scheduler of this partition; repeat the option for several partitions. "
    "Default: all partitions, also those that are created later",
)
@flags(SCHEDULER)
def scheduler(names: tuple[str, ...], **given: Any) -> None:
    """Run the schedulers, which decide which recipe gets which system: a process for each partition."""
    from api.scheduler_processes import run_schedulers

    settings = Settings.read(**given)
    with _logged(settings, SCHEDULER):
        run_schedulers(settings, names)


@click.command()
@flags(PROJECTOR)
def projector(**given: Any) -> None:
    """Run the projector, which keeps the read models up to date."""
    from api.root_projector import run_projector

    settings = Settings.read(**given)
    with _logged(settings, PROJECTOR):
        lower_priority(PROJECTOR_NICENESS)
        run_projector(settings)


@click.command()
@flags(NOTIFIER)
def notifier(**given: Any) -> None:
    """Run the notifier, which sends notifications by mail and to webhooks."""
    from api.root_notifier import run_notifier

    settings = Settings.read(**given)
    with _logged(settings, NOTIFIER):
        lower_priority(NOTIFIER_NICENESS)
        run_notifier(settings)
