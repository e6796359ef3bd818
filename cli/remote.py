"""What the commands have in common that talk to a server: the connection's options, and `--json`."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from cli.advice import CONNECTION
from cli.arguments.setting_flags import data_option
from cli.terminal.output import Output, note
from runtime.settings import Settings, variable

if TYPE_CHECKING:
    from api.client import Client
    from api.client.connection_file import Connection

OPTIONS = (
    click.option(
        "--url",
        help="The server (LABLEDGER_URL; else that of a data folder you name, or of your last login).",
    ),
    click.option(
        "--token",
        help="Who you are to it (LABLEDGER_TOKEN; else as a data folder you name, or your login, says).",
    ),
    data_option,
    click.option("--json", "as_json", is_flag=True, help="For machines: JSON instead of tables."),
)

# For the read models to know what was written.
SETTLE_SECONDS = 2.0
# Set in the context by the commands that have --wide.
WIDE = "labledger.wide"
wide = click.option(
    "--wide",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, _, given: ctx.meta.update({WIDE: given}),
    help="All columns and all text, however narrow the terminal.",
)


def remote(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options above; it is called with a client and its output first."""

    @functools.wraps(command)
    def with_client(
        *args: Any,
        url: str | None,
        token: str | None,
        data: str | None,
        as_json: bool,
        **kwargs: Any,
    ) -> None:
        meta = click.get_current_context().meta
        with connect(url, token, data, say=None if as_json else note) as client:
            command(client, Output(as_json, meta.get(WIDE, False)), *args, **kwargs)
            settle(client)

    wrapped: Callable[..., None] = with_client
    for option in reversed(OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def settle(client: Client) -> None:
    """Who asks next, from another process, finds what was written here; if that does not take too long."""
    if client.position is None:
        return
    from api.client.patience import AT_ONCE
    from domain.errors import LabledgerError

    with suppress(LabledgerError), client.another(patience=AT_ONCE, answer_seconds=SETTLE_SECONDS) as asking:
        asking.get("/idle-pool", limit=1, min_position=client.position)


def connect(url: str | None, token: str | None, data: str | None, **how: Any) -> Client:
    """`how` is what a Client takes beside URL and token."""
    from api.client import Client

    connection = connection_told(url, token, data)
    click.get_current_context().meta[CONNECTION] = connection
    return Client(connection.url, connection.token, server_uid=connection.server_uid, **how)


def connection_told(url: str | None, token: str | None, data: str | None) -> Connection:
    """By these flags, else by variables, else by what was kept."""
    from api.client.connection_file import Connection
    from api.client.login_file import Logins

    # A flag wins over every variable: one that names a folder also over those that name URL and token.
    overruled = {variable("url"), variable("token")} if data is not None and url is None else set()
    told = {name: value for name, value in os.environ.items() if name not in overruled}
    named = data is not None or bool(told.get(variable("data")))
    settings = Settings.read(told, url=url, token=token, data=data)
    return Connection.load(settings, Logins.load(), folder_named=named)
