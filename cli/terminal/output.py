"""Printing of answers as JSON or tables, and of notes on standard error."""

from __future__ import annotations

import json
import re
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
        click.echo(CONTROL_CHARACTERS.sub(_escape, json.dumps(document, ensure_ascii=False)))

    def rows(self, document: Row, name: str, columns: Iterable[Column], *, empty: str) -> None:
        """Print the whole document, or a table of the list under `name`."""
        if self.as_json:
            self.document(document)
        elif document[name]:
            # Durations in rows of the past end at that moment, not now.
            then = document.get("as_of")
            self.table(columns, [{**row, "as_of": then} for row in document[name]])
        else:
            click.echo(empty)

    def table(self, columns: Iterable[Column], rows: Iterable[Row], *, title: str | None = None) -> None:
        shown = console(wide=self.wide)
        made = Rows(columns, rows, title=title)
        show(shown, made)
        if left_out := made.left_out(shown.width):
            note(f"columns not shown: {', '.join(left_out)} (use --wide or --json)")

    def line(self, document: Row, text: str) -> None:
        """Print one message of a stream and flush it. `text` has styles only if colours are wanted."""
        if self.as_json:
            self.document(document)
        else:
            click.echo(text, color=True)
        sys.stdout.flush()


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


def xml(text: str) -> None:
    """Print XML, with references for the characters that would steer a terminal."""
    click.echo(CONTROL_CHARACTERS.sub(lambda found: f"&#x{ord(found.group()):X};", text))


def content(written: bytes) -> None:
    """Print bytes as they are; on a terminal with references for the characters that would steer it."""
    if sys.stdout.isatty():
        xml(written.decode(errors="replace"))
    else:
        click.echo(written, nl=False)


def note(text: str) -> None:
    """Print a note to standard error."""
    click.secho(text, err=True, dim=True)


def console(*, wide: bool = False) -> Console:
    from rich.console import Console

    class PipedConsole(Console):
        def on_broken_pipe(self) -> None:
            """Raise instead of ending the process with status 1."""
            raise BrokenPipeError

    found = PipedConsole(highlight=False)
    return found if found.is_terminal and not wide else PipedConsole(highlight=False, width=UNBOUNDED)


def show(shown: Console, what: Any) -> None:
    """Print without trailing blanks."""
    with shown.capture() as captured:
        shown.print(what, crop=False)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    click.echo("\n".join(lines), color=shown.is_terminal)
