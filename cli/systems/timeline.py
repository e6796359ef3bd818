"""`labledger timeline`: the usage of systems over time, drawn as a line of marks for each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, note_moment
from cli.arguments.params import WholeNumber
from cli.arguments.time_span import BEGIN, until_option
from cli.lists import completing
from cli.lists.listing import limits, note_rest, read_limited, require_existing
from cli.remote import remote, wide
from cli.systems.inventory import SYSTEM_FILTERS
from cli.systems.usage import SHARE_COLUMNS
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from cli.terminal.wording import clock, zone
from domain.system.usage import displayed_usage

if TYPE_CHECKING:
    from api.client import Client

ROWS = 50
MARKS_IN_LINE = 48
DEFAULT_SPAN = timedelta(days=1)
MAX_RESOLUTION = 2**31 - 1
# Usage, or the condition of an idle system -> its mark.
MARKS = {
    "running": "#",
    "installing": "i",
    "waiting": "w",
    "scheduled": "s",
    "pending": "p",
    "idle": ".",
    "draining": "d",
    "disabled": "x",
    "occupied": "o",
    "Manual": "M",
    "Broken": "X",
    "Removed": "-",
    "mixed": "~",
    "unregistered": " ",
}


@click.command
@click.argument("fqdns", metavar="[FQDN]…", nargs=-1, shell_complete=completing.systems)
@click.option(
    "--since", metavar="TIME", type=BEGIN, help="Start [default: 24 hours before the end of the time span]."
)
@until_option
@click.option(
    "--resolution",
    type=WholeNumber(0, MAX_RESOLUTION),
    metavar="SECONDS",
    help="Join intervals that are shorter than this, 0 for none"
    " [default: the length of a mark in the table, 0 with --json].",
)
@limits(ROWS)
@as_of
@wide
@remote
def timeline(
    client: Client,
    output: Output,
    fqdns: tuple[str, ...],
    since: str | None,
    until: str | None,
    resolution: int | None,
    limit: int | None,
    as_of: str | None,
    **filters: str | None,
) -> None:
    """Show what systems did over time, one line of marks for each system. FQDN: only these systems.

    A mark stands for the usage of the system, or for the condition of an idle one. Intervals that are shorter
    than a mark are joined to `mixed`. The shares after the line are exact. `labledger system usage` shows the
    intervals of one system.
    """
    if resolution is None:
        resolution = 0 if output.as_json else _length_of_mark(since, until)
    query = {"since": since, "until": until, "fqdn": ",".join(fqdns) or None, **filters}
    document, has_more = read_limited(
        client, output, "/timeline", "systems", limit, as_of=as_of, resolution_seconds=resolution, **query
    )
    if not document["systems"]:
        require_existing(client, as_of, {name: given for name, given in filters.items() if given is not None})
    note_moment(client, output, as_of, document)
    if output.as_json:
        output.document(document)
    else:
        _draw(output, document)
    if has_more:
        note_rest(len(document["systems"]))


timeline.params = [
    *(param for param in SYSTEM_FILTERS if param.name != "usage"),
    *timeline.params,
]


def _length_of_mark(since: str | None, until: str | None) -> int:
    """Return the seconds of a mark, rounded up."""
    span = DEFAULT_SPAN
    if since is not None:
        end = datetime.now(UTC) if until is None else datetime.fromisoformat(until)
        span = end - datetime.fromisoformat(since)
    return max(1, math.ceil(span / timedelta(seconds=MARKS_IN_LINE)))


def _draw(output: Output, document: Row) -> None:
    """Print a line of marks for each system, and the legend of the marks."""
    since, until = (datetime.fromisoformat(document[name]) for name in ("since", "until"))
    step = (until - since) / MARKS_IN_LINE
    heading = f"{clock(document['since'])} to {clock(document['until'])} ({zone()})"
    line = Column(heading, lambda row: "".join(_marks(row, since + step / 2, step)), rank=0)
    rows = {**document, "systems": list(map(_with_seconds, document["systems"]))}
    columns = (Column("system", "fqdn", rank=0), line, *SHARE_COLUMNS)
    output.rows(rows, "systems", columns, empty="There are no such systems.")
    if document["systems"]:
        click.echo(_legend(document))


def _marks(row: Row, middle: datetime, step: timedelta) -> Iterator[str]:
    """Yield the marks of a system: each is the interval in the middle of its time, from `middle` on."""
    count = 0
    for interval in row["intervals"]:
        end = datetime.fromisoformat(interval["until"])
        while count < MARKS_IN_LINE and middle + count * step < end:
            count += 1
            yield MARKS[displayed_usage(interval["condition"], interval["usage"])]


def _with_seconds(row: Row) -> dict[str, Any]:
    """Return a system with the seconds of its conditions and usages, without the time before it was added."""
    seconds: dict[str, Counter[str]] = {}
    for interval in row["intervals"]:
        for share in interval["shares"] or [interval]:
            if share["condition"] is not None:
                of_condition = seconds.setdefault(share["condition"], Counter())
                of_condition[share["usage"]] += share["seconds"]
    return {**row, "seconds": seconds}


def _legend(document: Row) -> str:
    intervals = (interval for row in document["systems"] for interval in row["intervals"])
    there = {displayed_usage(interval["condition"], interval["usage"]) for interval in intervals}
    return "  ".join(f"{mark} {name}" for name, mark in MARKS.items() if name in there and mark.strip())
