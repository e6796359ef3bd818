"""Printing of answers as JSON or tables, and of notes on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from cli.terminal.tables import UNBOUNDED, Column, Row, Rows
from domain.characters import CONTROL_CHARACTERS

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Output:
    as_json: bool
    wide: bool = False

    def document(self, document: Any) -> None:
        # Old texts may have control characters; escapes are equivalent in JSON.
        text = json.dumps(document, ensure_ascii=False)
        click.echo(CONTROL_CHARACTERS.sub(lambda found: f"\\u{ord(found.group()):04x}", text))

    def rows(
        self, document: Row, name: str, columns: Iterable[Column], *, empty: str, title: str | None = None
    ) -> None:
        """Print the whole document, or a table of the list under `name`."""
        if self.as_json:
            self.document(document)
        elif document[name]:
            # With --as-of, open durations in the rows end at that moment instead of now.
            as_of = document.get("as_of")
            self.table(columns, [{**row, "as_of": as_of} for row in document[name]], title=title)
        else:
            click.echo(empty)

    def table(self, columns: Iterable[Column], rows: Iterable[Row], *, title: str | None = None) -> list[str]:
        """Print a table, and return the headings of the columns that do not fit."""
        screen = console(wide=self.wide)
        table = Rows(columns, rows, title=title)
        show(screen, table)
        if left_out := table.left_out(screen.width):
            note(f"columns not shown: {', '.join(left_out)} (use --wide or --json)")
        return left_out

    def line(self, document: Row, text: str) -> None:
        """Print a document or its text, and flush the output. Styles in `text` are printed as they are."""
        if self.as_json:
            self.document(document)
        else:
            click.echo(text, color=True)
        sys.stdout.flush()


def xml(text: str) -> None:
    """Print XML, with character references for the control characters that a terminal would obey."""
    click.echo(CONTROL_CHARACTERS.sub(lambda found: f"&#x{ord(found.group()):X};", text))


def content(document: bytes) -> None:
    """Print bytes unchanged; on a terminal, replace control characters as `xml` does."""
    if sys.stdout.isatty():
        xml(document.decode(errors="replace"))
    else:
        click.echo(document, nl=False)


def note(text: str) -> None:
    click.secho(text, err=True, dim=True)


def console(*, wide: bool = False) -> Console:
    from rich.console import Console

    class PipedConsole(Console):
        def on_broken_pipe(self) -> None:
            """Raise instead of ending the process with status 1."""
            raise BrokenPipeError

    screen = PipedConsole(highlight=False)
    return screen if screen.is_terminal and not wide else PipedConsole(highlight=False, width=UNBOUNDED)


def show(screen: Console, renderable: Any) -> None:
    """Print a table or another renderable, without trailing blanks."""
    with screen.capture() as captured:
        screen.print(renderable, crop=False)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    click.echo("\n".join(lines), color=screen.is_terminal)
