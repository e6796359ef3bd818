"""The options of commands that show a time span of the past."""

from __future__ import annotations

import click

from cli.arguments.params import TimeParam

BEGIN = TimeParam(past=True, future="is refused")
END = TimeParam(past=True, future="is cut")
MOMENT = BEGIN
since_option = click.option(
    "--since", metavar="TIME", type=BEGIN, help="Start [default: the beginning of the log]."
)
until_option = click.option("--until", metavar="TIME", type=END, help="End, at most now [default: now].")
