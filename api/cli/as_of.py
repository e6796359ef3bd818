"""`--as-of`: the moment that people ask about, as they read moments in the tables."""

from __future__ import annotations

from datetime import UTC, datetime

import click

EXAMPLE = "2026-11-21 12:02:50"


def _moment(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """A log position as it is, any time as RFC 3339."""
    if given is None or (given.isascii() and given.isdigit()):
        return given
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        message = f"{given!r} is neither a log position nor a time such as '{EXAMPLE}' (UTC)"
        raise click.BadParameter(message, ctx, param) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


as_of = click.option(
    "--as-of",
    metavar="POSITION|TIME",
    callback=_moment,
    help=f"As it was then: at a log position, or at a time such as '{EXAMPLE}', UTC if it names no zone.",
)
