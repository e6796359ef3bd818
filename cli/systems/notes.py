"""`labledger system note`: notes of people on a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import absence_explained, as_of, note_moment
from cli.arguments.params import WholeNumber, reason_option
from cli.lazy import SuggestingGroup
from cli.lists.listing import limits, note_rest, read_limited
from cli.remote import remote, wide
from cli.systems.kind import SYSTEM
from cli.terminal.output import Output
from cli.terminal.tables import Column
from cli.terminal.wording import clock, zone

if TYPE_CHECKING:
    from api.client import Client

FIRST_NOTES = 20
COLUMNS = (
    Column("note", "id", "number", 0),
    Column(f"at ({zone()})", lambda row: clock(row.get("at")), rank=1),
    Column("author", "author", rank=1),
    Column("text", "text", "text", 0),
)


@click.group(cls=SuggestingGroup)
def note() -> None:
    """List, add and remove notes on a system."""


@note.command("list")
@SYSTEM.argument
@limits(FIRST_NOTES)
@as_of
@wide
@remote
def list_notes(client: Client, output: Output, fqdn: str, limit: int | None, as_of: str | None) -> None:
    """List the notes on FQDN, newest first."""
    with absence_explained(client, as_of, "system", fqdn):
        path = client.path(SYSTEM.plural, fqdn, "notes")
        document, has_more = read_limited(client, output, path, "notes", limit, as_of=as_of)
    note_moment(client, output, as_of, document)
    if output.as_json:
        output.document(document)
        return
    output.table(COLUMNS, document["notes"])
    if not document["notes"]:
        click.echo("no notes")
    if has_more:
        note_rest(len(document["notes"]))


@note.command
@SYSTEM.argument
@click.argument("text")
@remote
def add(client: Client, output: Output, fqdn: str, text: str) -> None:
    """Add a note with this TEXT to FQDN."""
    answer = client.post(client.path(SYSTEM.plural, fqdn, "notes"), {"text": text})
    output.line(answer, f"note {answer['id']} added to {fqdn}")


@note.command
@SYSTEM.argument
@click.argument("note_id", metavar="NOTE", type=WholeNumber())
@reason_option
@remote
def remove(client: Client, output: Output, fqdn: str, note_id: int, reason: str | None) -> None:
    """Remove the NOTE with this number from FQDN. It stays in the log."""
    answer = client.delete(client.path(SYSTEM.plural, fqdn, "notes", str(note_id)), reason=reason)
    output.line(answer, f"note {note_id} removed from {fqdn}")
