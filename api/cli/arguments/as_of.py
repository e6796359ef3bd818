"""`--as-of`: the moment that people ask about; and whether the answer is about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from api.cli.arguments.moments import moment

if TYPE_CHECKING:
    from api.cli.terminal.tables import Row
    from api.client import Client

EXAMPLES = "'2h ago', 'yesterday 14:00', '2026-11-20 14:00' or '2026-11-20T13:00:00Z'"
# Nobody's clock is that of the server.
CLOCKS_DIFFER = timedelta(minutes=1)


def _moment(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """A log position as it is, any time as RFC 3339."""
    if given is None or is_position(given):
        return given
    found = moment(given, datetime.now(UTC))
    if found is None:
        message = f"{given!r} is neither a log position nor a time such as {EXAMPLES}"
        raise click.BadParameter(message, ctx, param)
    return found.isoformat()


as_of = click.option(
    "--as-of",
    metavar="POSITION|TIME",
    callback=_moment,
    help=f"As it was then: at a log position, or at a time such as {EXAMPLES}; local if it names no zone.",
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
