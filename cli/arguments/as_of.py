"""`--as-of`: the moment that people ask about."""

from __future__ import annotations

from typing import Any

import click

from cli.arguments.params import PAST_EXAMPLES, Moment


class PositionOrMoment(Moment):
    other = "neither a log position nor a"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if is_position(str(value)) else super().convert(value, param, ctx)


as_of = click.option(
    "--as-of",
    metavar="POSITION|TIME",
    type=PositionOrMoment(past=True),
    help=f"As it was then: at a log position, or a time such as {PAST_EXAMPLES}; local if it names no zone.",
)


def is_position(given: str) -> bool:
    return given.isascii() and given.isdigit()
