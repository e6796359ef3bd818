"""`labledger events`: the events on the log, and with --follow the new ones as they are appended."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.params import WholeNumber
from cli.lists import completing
from cli.log.event_lines import EventPrinter
from cli.remote import remote, wide
from cli.terminal.output import Output, note

if TYPE_CHECKING:
    from api.client import Client

# A position that no event has: the server answers a read after it with the last position of the log.
BEYOND_THE_LOG = 2**63 - 2


@click.command
@click.option(
    "--follow",
    "-f",
    is_flag=True,
    help="Print the existing events after --after, then each new event, until Ctrl-C.",
)
@click.option(
    "--after",
    metavar="POSITION",
    type=WholeNumber(0),
    default=0,
    help="Only events after this position [default: 0, all events].",
)
@click.option("--new", is_flag=True, help="With --follow: omit the existing events. Overrides --after.")
@click.option(
    "--types",
    metavar="TOPIC,…",
    shell_complete=completing.topics,
    help="Only events with these topics, separated by commas: recipe.queued,recipe.scheduled.",
)
@click.option("--subject", metavar="SUBJECT", help="Only events of this subject, for example recipe/12.")
@click.option("--limit", type=WholeNumber(), help="Maximum number of events to show [default: all].")
@wide
@remote
def events(
    client: Client,
    output: Output,
    follow: bool,
    after: int,
    new: bool,
    types: str | None,
    subject: str | None,
    limit: int | None,
) -> None:
    """Show events in log order; with --json, one event per line.

    --follow survives a restart of the server: it continues after the last event that it has printed.
    """
    if new:
        after = _last_position(client)
    filters = {"types": types.split(",") if types else None, "subject": subject}
    found = _live_events(client, after, filters) if follow else client.log(after, **filters)
    printer, is_empty = EventPrinter(output), True
    for event in islice(found, limit):
        printer.show(event)
        is_empty = False
    if is_empty and not output.as_json:
        note(_no_events(types, subject, after))


def _no_events(types: str | None, subject: str | None, after: int) -> str:
    topics = f" with topic {' or '.join(types.split(','))}" if types else ""
    where = f" after position {after}" if after else ""
    return f"no events{topics}{f' of {subject}' if subject else ''}{where}"


def _last_position(client: Client) -> int:
    position: int = client.get("/events", after=BEYOND_THE_LOG, limit=1)["position"]
    return position


def _live_events(client: Client, after: int, filters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for event in client.events(after=after, **filters):
        yield event.document()
