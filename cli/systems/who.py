"""`labledger who`: the recipe or the person that had a system, and who ordered it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import as_of
from cli.arguments.exclusion import require_exclusive
from cli.arguments.time_span import MOMENT, since_option, until_option
from cli.remote import remote, wide
from cli.systems.kind import SYSTEM
from cli.systems.usage import intervals_of
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from cli.terminal.wording import clock, duration, seconds_between, zone
from domain.system.usage import displayed_usage

if TYPE_CHECKING:
    from api.client import Client


# A moment to come: the server takes the moment of the read instead.
LATEST = "9999-12-31T00:00:00Z"


def _kind(row: Row) -> str:
    """Return the kind of use, or the usage of a system that nobody has."""
    return str(row["kind"] or row["unavailable"] or displayed_usage(row["condition"], row["usage"]))


COLUMNS = (
    Column(f"since ({zone()})", lambda row: clock(row.get("since")), rank=0),
    Column("time", lambda row: duration(row["seconds"]), "number", 0),
    Column("kind", _kind, rank=0),
    Column("recipe", "recipe_id", "number", 1),
    Column("job", "job_id", "number", 1),
    Column("user", "user", rank=0),
    Column("ordered by", "ordered_by", rank=0),
    Column("usage", "usage", "state", 3),
    Column("event", "ordered_position", "number", 2),
)
# Rows that agree in these belong to one use.
_USE = ("kind", "recipe_id", "user", "ordered_position")


@click.command
@SYSTEM.argument
@click.option("--at", metavar="TIME", type=MOMENT, help="Only the moment TIME [default: now].")
@since_option
@until_option
@as_of
@wide
@remote
def who(
    client: Client,
    output: Output,
    fqdn: str,
    at: str | None,
    since: str | None,
    until: str | None,
    as_of: str | None,
) -> None:
    """Show who has FQDN, or had it at a moment or in a time span, one use per line.

    The `user` is the owner of the job whose recipe has the system, or the person with the reservation or the
    loan. `ordered by` is the user who submitted the recipe, or made the reservation or the loan; `event` is
    the position of that in the log. `usage` is that at the end of the use. Time in which nobody had the
    system shows its state. With --json each usage is an interval of its own; the intervals have no gaps, and
    their seconds add up to the time span.
    """
    is_moment = since is None and until is None
    require_exclusive({"--at": at, "--since": since})
    require_exclusive({"--at": at, "--until": until})
    if is_moment:
        since = until = at or LATEST
    document = intervals_of(client, output, fqdn, as_of, since, until)
    if not output.as_json:
        rows = document["intervals"]
        lasting = [row for row in rows if row["seconds"]]
        shown = [_from_begin(row) for row in rows] if is_moment else _uses(lasting)
        document = {**document, "intervals": shown}
    empty = f"{fqdn} did not exist in that time."
    output.rows(document, "intervals", COLUMNS, empty=empty, title=f"system {fqdn}")


def _uses(rows: Sequence[Row]) -> list[Row]:
    """Return consecutive intervals of one use as one, with its begin, its time and its last usage."""
    uses: list[Row] = []
    for row in rows:
        before = uses[-1] if uses else None
        if before and row["kind"] and all(row.get(name) == before.get(name) for name in _USE):
            seconds = before["seconds"] + row["seconds"]
            uses[-1] = {**row, "since": before["since"], "seconds": seconds}
        else:
            uses.append(row)
    return uses


def _from_begin(row: Row) -> Row:
    """Return an interval from its begin up to the moment that was asked for, which begins and ends it."""
    return {**row, "since": row["begun_at"], "seconds": seconds_between(row["begun_at"], row["since"])}
