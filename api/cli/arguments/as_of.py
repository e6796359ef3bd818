"""`--as-of`: the moment that people ask about; and whether the answer is about it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from api.cli.arguments.params import PAST_EXAMPLES, Moment

if TYPE_CHECKING:
    from api.cli.terminal.tables import Row
    from api.client import Client

# Nobody's clock is that of the server.
CLOCKS_DIFFER = timedelta(minutes=1)


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


def require_past(client: Client, asked: str | None, answer: Row) -> None:
    """A moment that is still to come is answered with how things are now, which is not what was asked."""
    if asked is None:
        return
    if is_position(asked):
        _require_position(client, int(asked), answer)
    elif datetime.fromisoformat(asked) > datetime.fromisoformat(answer["as_of"]) + CLOCKS_DIFFER:
        raise _still_to_come(asked)


def _require_position(client: Client, asked: int, answer: Row) -> None:
    """An answer is as of the end of a commit, so that it may be behind a position that there is."""
    if answer["position"] >= asked:
        return
    if not client.get("/events", after=max(0, asked - 1), limit=1)["events"]:
        raise _still_to_come(f"position {asked}, behind {answer['position']} at the end of the log,")


def _still_to_come(what: str) -> click.BadParameter:
    context = click.get_current_context()
    param = next((one for one in context.command.params if one.name == "as_of"), None)
    message = f"{what} is still to come; without --as-of the answer is as of now"
    return click.BadParameter(message, context, param)
