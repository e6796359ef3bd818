"""The parts of a running Labledger, each as its own process: migrate, serve, scheduler, projector."""

from __future__ import annotations

import click

from api import root
from api.processes.logs import set_up_logging
from api.settings import Settings


@click.command()
def migrate() -> None:
    """Bring the database up to date."""
    applied = root.migrate(Settings.read())
    for name in applied:
        click.echo(f"applied {name}")
    if not applied:
        click.echo("nothing to do")


@click.command()
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=int, help="Port to listen on.")
@click.option("--api-workers", type=int, help="Processes that serve.")
def serve(host: str | None, port: int | None, api_workers: int | None) -> None:
    """Serve the HTTP API."""
    from api.rest.server import Server

    settings = Settings.read(host=host, port=port, api_workers=api_workers)
    root.needed(settings.database_url)
    set_up_logging(settings.log_level)
    Server(settings, lambda: root.http_application(settings)).run()


@click.command()
def scheduler() -> None:
    """Decide which recipe gets which system."""
    settings = Settings.read()
    set_up_logging(settings.log_level)
    root.run_scheduler(settings)


@click.command()
def projector() -> None:
    """Keep the read models up to the log."""
    settings = Settings.read()
    set_up_logging(settings.log_level)
    root.run_projector(settings)
