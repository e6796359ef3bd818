"""`labledger up`: all services in the foreground, by default with an embedded PostgreSQL."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from api.client import Client
from api.client.connection_file import Connection, connection_file
from api.client.lab_file import load as load_lab
from api.database_setup import first_admin_token, log_size, migrate
from cli.arguments.setting_flags import flags
from cli.service import up_messages as messages
from cli.service.until_ready import until_ready
from cli.terminal.progress import advancing
from runtime.embedded.database import EmbeddedDatabase, remove_libpq_variables
from runtime.embedded.home import make_folder
from runtime.embedded.locks import LockHeld, exclusive
from runtime.embedded.ports import any_free, is_free_within
from runtime.locks import LockClass
from runtime.processes.logs import set_up_logging
from runtime.processes.programs import SERVICES, SIMULATOR, program
from runtime.processes.stop_request import listening
from runtime.processes.supervisor import Supervisor
from runtime.settings import UP, Settings

# Maximum wait for the port of a predecessor that was killed.
PORT_SECONDS = 5.0
MAX_PORT = 65_535
LOGS_HOST = "127.0.0.1"
STARTING = "starting"


@click.command
@click.option(
    "--demo", is_flag=True, help="Load a small lab if there are no systems yet, and simulate all machines."
)
@click.option(
    "--speed",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="Speed of the machines of --demo: 60 makes a minute a second.",
)
@flags(UP)
def up(demo: bool, speed: float, **given: Any) -> None:
    """Run all services of Labledger in the foreground, until SIGTERM or Ctrl-C.

    `up` starts a PostgreSQL in the data folder, unless LABLEDGER_DATABASE_URL names another.
    """
    settings = Settings.read(**given)
    set_up_logging(settings, UP)
    _make_folder(settings.data)
    try:
        with exclusive(LockClass.SERVICE_FOLDER, settings.data / "up.lock", wait=False) as leave_note:
            settings = _with_address(settings)
            leave_note(str(settings.url))
            _run(settings, demo, speed)
    except LockHeld as taken:
        raise click.ClickException(messages.already_running(taken.note)) from None


def _make_folder(data: Path) -> None:
    try:
        make_folder(data)
    except OSError as error:
        raise click.ClickException(messages.no_folder(data, error)) from None


def _with_address(settings: Settings) -> Settings:
    port = settings.port or any_free(settings.host)
    if not is_free_within(PORT_SECONDS, port, settings.host):
        raise click.ClickException(messages.port_taken(settings.host, port))
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)
    return replace(settings, port=port, url=f"http://{f'[{host}]' if ':' in host else host}:{port}")


def _run(settings: Settings, demo: bool, speed: float) -> None:
    stop = listening()
    with ExitStack() as stack:
        supervisor = Supervisor(settings.stop_seconds)
        settings = _prepare_database(settings, supervisor, stack)
        stack.callback(supervisor.stop)
        if not demo:
            publish_connection(settings.data)
        folder = connection_folder(settings.data, demo=demo)
        new_token = first_admin_token(settings, lambda token: _keep_connection(settings, folder, token))
        _keep_connection(settings, folder, None)
        connection = Connection.load(replace(settings, data=folder))
        click.echo(messages.data(settings, new_token, log_size(settings)))
        if stop.is_requested():
            return
        for name in SERVICES:
            supervisor.start(program(name, replace(settings, token=None)))
        until_ready(settings, supervisor, stop.is_requested)
        if not stop.is_requested():
            if demo:
                _start_demo(settings, connection, supervisor, speed)
            click.echo(messages.ready(settings, connection, new_token))
        supervisor.run(stop.is_requested)
        click.echo("stopping")
    click.echo("stopped")


def _prepare_database(settings: Settings, supervisor: Supervisor, stack: ExitStack) -> Settings:
    """Start and migrate the database; `stack` stops it after its users."""
    if settings.database_url is not None:
        migrate(settings)
        return settings
    remove_libpq_variables()
    database = EmbeddedDatabase(settings.data)
    stack.callback(database.stop)
    settings = database.start(settings)
    migrate(settings)
    supervisor.add_check(database.keep_running)
    return database.for_services(settings)


def connection_folder(data: Path, *, demo: bool) -> Path:
    """Return the folder of the connection file during the start.

    A new demo keeps it apart until the lab is loaded, so that nobody submits jobs to an empty lab, where they
    would be aborted.
    """
    return data / STARTING if demo and not connection_file(data).exists() else data


def publish_connection(data: Path) -> None:
    """Move the connection file of a new demo to the data folder, also after a start that was interrupted."""
    if connection_file(data / STARTING).exists():
        connection_file(data / STARTING).replace(connection_file(data))
        (data / STARTING).rmdir()


def _keep_connection(settings: Settings, folder: Path, new_token: str | None) -> None:
    Connection(str(settings.url), new_token).save(folder)


def _start_demo(settings: Settings, connection: Connection, supervisor: Supervisor, speed: float) -> None:
    if connection.token is None:
        raise click.ClickException(messages.demo_without_token(settings))
    click.echo(messages.LOADING_DEMO)
    if not load_demo(connection):
        click.echo(messages.DEMO_NOT_LOADED)
    publish_connection(settings.data)
    with_token = replace(settings, token=connection.token)
    logs_port = _logs_port(settings)
    supervisor.start(program(SIMULATOR, with_token, "--speed", f"{speed:g}", "--logs-port", f"{logs_port}"))


def _logs_port(settings: Settings) -> int:
    """Return the port after that of the API, so that addresses of logs outlive a restart, or a free one."""
    following = settings.port + 1
    return (
        following
        if following <= MAX_PORT and is_free_within(0, following, LOGS_HOST)
        else any_free(LOGS_HOST)
    )


def load_demo(connection: Connection) -> bool:
    """Load the sample lab, wait until lists show it, and return True.

    Return False without loading if a system was ever registered: the users may have changed the lab.
    Raises ClickException for another lab, whose machines may be real ones.
    """
    lab = json.loads((files("replay") / "samples" / "lab.json").read_text(encoding="utf-8"))
    with Client(connection.url, connection.token) as client:
        there = {each["fqdn"] for each in client.get("/lab-controllers", limit=1000)["lab_controllers"]}
        if there and there.isdisjoint(each["fqdn"] for each in lab["lab_controllers"]):
            raise click.ClickException(messages.not_the_demo(min(there)))
        if client.get("/events", types="system.registered", limit=1)["events"]:
            return False
        load_lab(client, lab, advancing)
        client.get("/systems", limit=1, min_position=client.position)
    return True
