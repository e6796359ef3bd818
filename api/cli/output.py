"""Tables and colour for people, JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from api.cli.wording import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Row = Mapping[str, Any]

# A pipe has no width: nothing is cut off there.
PIPE_COLUMNS = 10_000

# State, usage, condition or result -> its colour.
COLOURS = {
    "running": "cyan",
    "installing": "cyan",
    "waiting": "cyan",
    "completed": "green",
    "Pass": "green",
    "idle": "green",
    "aborted": "red",
    "cancelled": "yellow",
    "Warn": "yellow",
    "Fail": "red",
    "Panic": "bold red",
    "Broken": "red",
    "Urgent": "bold",
}


@dataclass(frozen=True)
class Column:
    """A heading, and what stands below it: a field of the row, or what is made of the row."""

    heading: str
    source: str | Callable[[Row], Any]
    right: bool = False

    def cell(self, row: Row) -> str:
        return plain(row.get(self.source) if isinstance(self.source, str) else self.source(row))


@dataclass(frozen=True)
class Output:
    as_json: bool

    def document(self, document: Any) -> None:
        click.echo(json.dumps(document, ensure_ascii=False))

    def rows(self, document: Row, name: str, columns: Iterable[Column], *, empty: str) -> None:
        """A list: the whole document, or a table of what stands under `name`."""
        if self.as_json:
            self.document(document)
        elif document[name]:
            # A row of the past is read as of then: nothing in it lasted until today.
            then = document.get("as_of")
            console().print(table(columns, [{**row, "as_of": then} for row in document[name]]))
        else:
            click.echo(empty)

    def line(self, document: Row, text: str) -> None:
        """One message of a stream, at once."""
        if self.as_json:
            self.document(document)
        else:
            click.echo(text)
        sys.stdout.flush()


def console() -> Console:
    from rich.console import Console

    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=PIPE_COLUMNS)


def table(columns: Iterable[Column], rows: Iterable[Row], *, title: str | None = None) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title=title, title_justify="left")
    shown = tuple(columns)
    for column in shown:
        # A name that was cut off is no name: what does not fit goes on in the next line.
        made.add_column(column.heading, justify="right" if column.right else "left", overflow="fold")
    for row in rows:
        cells = [column.cell(row) for column in shown]
        made.add_row(*(Text(cell, style=COLOURS.get(cell, "")) for cell in cells))
    return made
