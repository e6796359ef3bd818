"""`--as-of`: a moment of the past."""

from __future__ import annotations

from typing import Any

import click

from cli.arguments.params import PAST_EXAMPLES, TimeParam


class PositionOrMoment(TimeParam):
    allowed = "a log position or a time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if is_position(str(value)) else super().convert(value, param, ctx)


as_of = click.option(
    "--as-of",
    metavar="POSITION|TIME",
    type=PositionOrMoment(past=True),
    help=f"Show the state as of this log position, or time such as {PAST_EXAMPLES} (local without a zone).",
)


def is_position(given: str) -> bool:
    return given.isascii() and given.isdigit()
