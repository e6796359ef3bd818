"""`labledger who`: the recipe or the person that had a system, and who ordered it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import as_of
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


def _used_by(row: Row) -> str:
    """Return the recipe or the kind of use, or the usage of a system that nobody has."""
    if row["kind"] == "recipe":
        return f"recipe {row['recipe_id']} of job {row['job_id']}"
    return str(row["kind"] or row["unavailable"] or displayed_usage(row["condition"], row["usage"]))


COLUMNS = (
    Column(f"since ({zone()})", lambda row: clock(row.get("since")), rank=0),
    Column("for", lambda row: duration(row["seconds"]), "number", 0),
    Column("used by", _used_by, rank=0),
    Column("person", "user", rank=0),
    Column("ordered by", "ordered_by", rank=0),
    Column("usage", "usage", "state", 2),
    Column("event", "ordered_position", "number", 1),
)


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
    """Show who has FQDN, or had it at a moment or in a time span, one interval per line.

    A recipe has the system for the owner of its job, or a person by a reservation or a loan. `ordered by` is
    the user who submitted the recipe, or made the reservation or the loan; `event` is the position of that in
    the log. Time in which nobody had the system shows its state. The intervals have no gaps, and their
    seconds (--json) add up to the time span.
    """
    is_moment = since is None and until is None
    if at is not None and not is_moment:
        raise click.UsageError("--at cannot be used with --since or --until.")
    if is_moment:
        since = until = at or LATEST
    document = intervals_of(client, output, fqdn, as_of, since, until)
    if not output.as_json:
        rows = document["intervals"]
        shown = [_from_begin(row) for row in rows] if is_moment else [row for row in rows if row["seconds"]]
        document = {**document, "intervals": shown}
    output.rows(document, "intervals", COLUMNS, empty=f"{fqdn} did not exist in that time.")


def _from_begin(row: Row) -> Row:
    """Return an interval from its begin up to the moment that was asked for, which begins and ends it."""
    return {**row, "since": row["begun_at"], "seconds": seconds_between(row["begun_at"], row["since"])}
