"""`labledger system history`: the changes of a system, with their times and actors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.arguments.as_of import absence_explained, as_of, note_moment
from cli.arguments.moments import is_exact
from cli.lists.listing import limits, note_rest, read_limited
from cli.remote import remote, wide
from cli.systems.kind import SYSTEM
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from cli.terminal.wording import clock, plain, reason_of, zone

if TYPE_CHECKING:
    from api.client import Client

FIRST_CHANGES = 20
COLUMNS = (
    Column("position", "position", "number", 3),
    Column(f"at ({zone()})", lambda row: clock(row.get("at")), rank=0),
    Column("by", "actor", rank=0),
    Column("property", "property", rank=0),
    Column("from", lambda row: _value(row["from"]), "text", 2),
    Column("to", lambda row: _value(row["to"]), "text", 0),
    Column("reason", reason_of, "text", 1),
)


def _value(value: Any) -> str:
    """Return the value of a property, a time in the form of the tables."""
    return clock(value) if isinstance(value, str) and is_exact(value) else plain(value)


@click.command("history")
@SYSTEM.argument
@limits(FIRST_CHANGES)
@as_of
@wide
@remote
def of_system(client: Client, output: Output, fqdn: str, limit: int | None, as_of: str | None) -> None:
    """Show the changes of FQDN, latest first, one property per line.

    --limit counts lines; with --json it counts changes, each with all of its properties.
    """
    with absence_explained(client, as_of, "system", fqdn):
        path = client.path("systems", fqdn, "history")
        document, has_more = read_limited(client, output, path, "changes", limit, as_of=as_of)
    note_moment(client, output, as_of, document)
    if output.as_json:
        output.document(document)
        return
    lines: list[Row] = [
        {**change, **difference} for change in document["changes"] for difference in change["changes"]
    ]
    shown = lines[:limit]
    output.table(COLUMNS, shown)
    if has_more or len(shown) < len(lines):
        note_rest(len(shown))
