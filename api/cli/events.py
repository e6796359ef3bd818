"""`labledger events`: the log, once or as it grows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from api.cli.output import Output, Row
from api.cli.remote import remote
from api.cli.wording import clock, plain

if TYPE_CHECKING:
    from api.client import Client

# Of an event's data, what tells most about it; shown first to last where it is there.
TELLING = (
    "system", "recipe_id", "lab_controller", "condition", "priority", "task_id", "result", "reason", "user",
    "until", "seconds", "group", "whiteboard",
)  # fmt: skip
PAGE = 1000


@click.command
@click.option("--follow", "-f", is_flag=True, help="Go on with what is appended, until Ctrl-C.")
@click.option(
    "--after", type=click.IntRange(0), default=0, help="Only events behind this position [the start]."
)
@click.option("--types", metavar="TOPIC,…", help="Only these topics, as recipe.queued.")
@click.option("--subject", help="Only events of this, as recipe/12.")
@click.option("--limit", type=click.IntRange(1), help="At most so many [all of them].")
@remote
def events(
    client: Client,
    output: Output,
    follow: bool,
    after: int,
    types: str | None,
    subject: str | None,
    limit: int | None,
) -> None:
    """Read the log in its order; with --json one event a line."""
    wanted = {"types": types.split(",") if types else None, "subject": subject}
    found = _live(client, after, wanted) if follow else _recorded(client, after, wanted)
    try:
        for event in islice(found, limit):
            output.line(event, line(event))
    except KeyboardInterrupt:
        # So it is ended; what is recorded has an end of its own.
        if not follow:
            raise


def _recorded(client: Client, after: int, wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    while page := client.get("/events", after=after, limit=PAGE, **wanted)["events"]:
        yield from page
        after = page[-1]["position"]


def _live(client: Client, after: int, wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for event in client.events(after=after, **wanted):
        yield event.document()


def line(event: Row) -> str:
    data = event.get("data") or {}
    telling = {name: data[name] for name in TELLING if data.get(name) not in (None, "")}
    start = f"{event['position']:>8}  {clock(event.get('at'))}  {plain(event['topic']):<24}"
    return f"{start}  {plain(event['subject']):<34}  {plain(telling)}".rstrip()
