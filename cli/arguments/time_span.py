"""The options of commands that show a time span of the past."""

from __future__ import annotations

import click

from cli.arguments.params import TimeParam

PAST = TimeParam(past=True)
since_option = click.option(
    "--since", metavar="TIME", type=PAST, help="Start [default: the beginning of the log]."
)
until_option = click.option("--until", metavar="TIME", type=PAST, help="End [default: now].")
