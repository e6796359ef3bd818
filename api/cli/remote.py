"""What the commands have in common that talk to a server: the connection's options, and `--json`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.failures import AS_JSON
from api.cli.output import Output

if TYPE_CHECKING:
    from api.client import Client

OPTIONS = (
    click.option("--url", help="The server (LABLEDGER_URL; else that of the data folder)."),
    click.option("--token", help="Who you are to it (LABLEDGER_TOKEN; else that of the data folder)."),
    click.option(
        "--data",
        type=click.Path(path_type=Path),
        help="Data folder of `labledger up` (LABLEDGER_DATA).",
    ),
    click.option("--json", "as_json", is_flag=True, help="For machines: JSON instead of tables."),
)


def remote(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options above; it is called with a client and its output first."""

    @functools.wraps(command)
    def with_client(
        *args: Any,
        url: str | None,
        token: str | None,
        data: Path | None,
        as_json: bool,
        **kwargs: Any,
    ) -> None:
        click.get_current_context().meta[AS_JSON] = as_json
        with connect(url, token, data) as client:
            command(client, Output(as_json), *args, **kwargs)

    wrapped: Callable[..., None] = with_client
    for option in reversed(OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def connect(url: str | None, token: str | None, data: Path | None) -> Client:
    from api.client import Client
    from api.client.connection_file import Connection
    from api.settings import Settings

    connection = Connection.load(Settings.read(url=url, token=token, data=data))
    return Client(connection.url, connection.token)
