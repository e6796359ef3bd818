"""The options of all commands that call a server: connection, `--json` and `--wide`."""

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
        help="URL of the server [default: from --data, LABLEDGER_URL, LABLEDGER_DATA, or your last login].",
    ),
    click.option(
        "--token", help="Access token [default: from --data, LABLEDGER_TOKEN, LABLEDGER_DATA, or your login]."
    ),
    data_option,
    click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables."),
)

# Maximum wait until other processes show the change.
SETTLE_SECONDS = 2.0
# Key in the click context, set by the commands that have --wide.
WIDE = "labledger.wide"
wide = click.option(
    "--wide",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, _, given: ctx.meta.update({WIDE: given}),
    help="Show all columns and all text, even in a narrow terminal.",
)


def remote(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options above to a command, and call the command with a client and an output."""

    @functools.wraps(command)
    def with_client(
        *args: Any, url: str | None, token: str | None, data: str | None, as_json: bool, **kwargs: Any
    ) -> None:
        meta = click.get_current_context().meta
        with connect(url, token, data, on_wait=None if as_json else note) as client:
            command(client, Output(as_json, meta.get(WIDE, False)), *args, **kwargs)
            settle(client)

    wrapped: Callable[..., None] = with_client
    for option in reversed(OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def settle(client: Client) -> None:
    """Wait at most `SETTLE_SECONDS` until reads by other processes show the change of this command."""
    if client.position is None:
        return
    from api.client.retry_policy import NO_RETRIES
    from domain.errors import LabledgerError

    with suppress(LabledgerError), client.another(policy=NO_RETRIES, answer_seconds=SETTLE_SECONDS) as asking:
        asking.get("/idle-pool", limit=1, min_position=client.position)


def connect(url: str | None, token: str | None, data: str | None, **arguments: Any) -> Client:
    """Return a client for the given or configured server; `arguments` are passed to `Client`."""
    from api.client import Client

    connection = connection_from(url, token, data)
    click.get_current_context().meta[CONNECTION] = connection
    return Client(connection.url, connection.token, server_uid=connection.server_uid, **arguments)


def connection_from(url: str | None, token: str | None, data: str | None) -> Connection:
    """Return the connection from these flags, otherwise from variables, a data folder or a saved login."""
    from api.client.connection_file import Connection
    from api.client.login_file import Logins

    # --data means the service of that folder, so it overrides the variables of URL and token.
    overridden = {variable("url"), variable("token")} if data is not None and url is None else set()
    environment = {name: value for name, value in os.environ.items() if name not in overridden}
    folder_named = data is not None or bool(environment.get(variable("data")))
    settings = Settings.read(environment, url=url, token=token, data=data)
    return Connection.load(settings, Logins.load(), folder_named=folder_named)
