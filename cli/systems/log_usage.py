"""`labledger usage --log`: the bytes and events that each user and process added to the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.terminal.output import Output
from cli.terminal.tables import Column, Row

if TYPE_CHECKING:
    from api.client import Client

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def _size(row: Row) -> str:
    """Return the size in the largest unit that leaves a number of at least 1."""
    size, unit = float(row["size_bytes"]), 0
    while size >= 1024 and unit + 1 < len(UNITS):
        size, unit = size / 1024, unit + 1
    return f"{size:.1f} {UNITS[unit]}" if unit else f"{size:.0f} {UNITS[0]}"


COLUMNS = (
    Column("day (UTC)", "day", rank=0),
    Column("actor", "actor", rank=0),
    Column("written", _size, "number", 0),
    Column("events", "event_count", "number", 1),
)


def show_log_usage(client: Client, output: Output, since: str | None) -> None:
    """Print the shares of the log, latest day first."""
    document = client.get("/log-usage", since=since)
    output.rows(document, "shares", COLUMNS, empty="No events were written in that time.")
