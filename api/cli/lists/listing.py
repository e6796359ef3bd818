"""A list: its path, the name of its rows, the columns people see; and the command that shows it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from api.cli.arguments.as_of import as_of
from api.cli.arguments.params import Whole
from api.cli.arguments.then import tell_moment
from api.cli.remote import remote, wide
from api.cli.terminal.output import Output, note
from api.cli.terminal.progress import counting
from api.cli.terminal.tables import Column, Row
from api.cli.terminal.wording import elapsed

if TYPE_CHECKING:
    from api.client import Client

FIRST_ROWS = 100


@dataclass(frozen=True)
class Listing:
    """A list of the API; `empty` is what people read where it has no rows, `was_empty` where it had none."""

    path: str
    name: str
    columns: tuple[Column, ...]
    empty: str
    was_empty: str = ""

    def show(self, client: Client, output: Output, limit: int | None, as_of: str | None) -> None:
        with counting(f"reading {self._called}") as seen:
            document = client.pages(self.path, self.name, limit=limit, seen=seen, as_of=as_of)
        tell_moment(client, output, as_of, document)
        empty = self.empty if as_of is None else self.was_empty or f"There were no {self._called} then."
        output.rows(document, self.name, self.columns, empty=empty)
        if document["next"] is not None and not output.as_json:
            note(f"more: --all shows them, or --limit N the first N; these are {len(document[self.name])}")

    @property
    def _called(self) -> str:
        return self.name.replace("_", " ")


def limits(rows: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Options that become one argument, `limit`: None for all."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def limited(*args: Any, limit: int, show_all: bool, **kwargs: Any) -> None:
            command(*args, limit=None if show_all else limit, **kwargs)

        every = click.option("--all", "show_all", is_flag=True, help="All there are.")
        first = click.option(
            "--limit", type=Whole(), default=rows, show_default=True, help="At most so many."
        )
        return first(every(limited))

    return decorate


def list_command(name: str, listing: Listing, text: str, *, rows: int = FIRST_ROWS) -> click.Command:
    """The command that shows a list."""

    def shown(client: Client, output: Output, limit: int | None, as_of: str | None) -> None:
        listing.show(client, output, limit, as_of)

    return click.command(name, help=text)(limits(rows)(as_of(wide(remote(shown)))))


def since(row: Row) -> str:
    """How long it has been so, by the moment that the answer is about."""
    return elapsed(row.get("since"), row.get("as_of"))
