"""Lists: the path, the rows and the columns of a list, and the command that shows it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cli.arguments.as_of import absence_explained, as_of, note_moment
from cli.arguments.params import Command, Decorator, limit_option
from cli.lazy import SuggestingGroup
from cli.lists.suggesting import similar_name_added
from cli.remote import remote, wide
from cli.terminal.output import Output, note
from cli.terminal.progress import counting
from cli.terminal.tables import Column, Row
from cli.terminal.wording import elapsed
from domain.directory.partitions import DEFAULT

if TYPE_CHECKING:
    from api.client import Client

FIRST_ROWS = 100
PARTITION = Column("partition", lambda row: row.get("partition", DEFAULT) or "none")
"""The column of the partition, which a table has only if a row is in another partition than `default`."""


def columns_for(columns: Sequence[Column], rows: Sequence[Row]) -> list[Column]:
    """Return the columns of a table with these rows, PARTITION only if a row is not in `default`."""
    has_others = any(PARTITION.cell(row) != DEFAULT for row in rows)
    return [column for column in columns if column is not PARTITION or has_others]


# Filter that names an object -> the kind of the object.
KIND_BY_FILTER = {"owner": "user", "group": "group", "pool": "pool", "lab_controller": "lab controller"}


@dataclass(frozen=True)
class Listing:
    """A list of the API, and the messages for an empty list: `empty`, and with --as-of `was_empty`.

    With a filter by system, `none_of` and `were_none_of` replace them. `further` is another list of the
    answer, with its columns; its rows, if there are any, follow in a table with the title `further_title`.
    `parameters` are sent with each request.
    """

    path: str
    name: str
    columns: tuple[Column, ...]
    empty: str
    was_empty: str = ""
    none_of: str = ""
    were_none_of: str = ""
    further: str | None = None
    further_title: str = ""
    further_columns: tuple[Column, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)

    def show(
        self, client: Client, output: Output, limit: int | None, as_of: str | None, **filters: str | None
    ) -> None:
        with counting(f"reading {self._noun}") as on_page:
            sent = {**self.parameters, **filters}
            document, has_more = read_limited(
                client, output, self.path, self.name, limit, on_page=on_page, as_of=as_of, **sent
            )
        narrowed = {name: given for name, given in filters.items() if given is not None}
        if not document[self.name]:
            require_existing(client, as_of, narrowed)
        note_moment(client, output, as_of, document)
        rows = document[self.name]
        empty = self._empty_message(as_of is not None, narrowed)
        output.rows(document, self.name, self.columns_for(rows), empty=empty)
        if has_more:
            note_rest(len(rows))
        if self.further is not None and document.get(self.further) and not output.as_json:
            output.table(self.further_columns, document[self.further], title=self.further_title)

    def columns_for(self, rows: Sequence[Row]) -> list[Column]:
        """Return the columns of a table with these rows."""
        return columns_for(self.columns, rows)

    def _empty_message(self, is_past: bool, narrowed: Mapping[str, str]) -> str:
        if "system" in narrowed and self.none_of:
            return (self.were_none_of if is_past else self.none_of).format(**narrowed)
        if narrowed:
            # A flag has no value to name, so it is named as it was typed.
            filters = ", ".join(
                f"--{name}" if given == "true" else f"{name.replace('_', ' ')} {given}"
                for name, given in narrowed.items()
            )
            verb, then = ("There were", " then") if is_past else ("There are", "")
            return f"{verb} no {self._noun} with {filters}{then}."
        return (self.was_empty or f"There were no {self._noun} then.") if is_past else self.empty

    @property
    def _noun(self) -> str:
        return self.name.replace("_", " ")


def read_limited(
    client: Client, output: Output, path: str, name: str, limit: int | None, /, **parameters: Any
) -> tuple[dict[str, Any], bool]:
    """Return up to `limit` rows of a list as one page, and whether a table leaves out further rows.

    The server gives each full page a `next`, so a row more is read for a table. JSON has the page as it is,
    because a program continues after its last row.
    """
    if limit is None or output.as_json:
        return client.pages(path, name, limit=limit, **parameters), False
    document = client.pages(path, name, limit=limit + 1, **parameters)
    rows = document[name]
    return {**document, name: rows[:limit]}, len(rows) > limit


def note_rest(shown: int) -> None:
    """Print that a table leaves out rows of its list."""
    note(f"Showing {shown}; use --all for the rest.")


def require_existing(client: Client, as_of: str | None, narrowed: Mapping[str, str]) -> None:
    """Raise ServerProblem if a filter names an object that does not exist, with a similar name."""
    for name, kind in KIND_BY_FILTER.items():
        if name not in narrowed:
            continue
        wanted = (kind, narrowed[name])
        with similar_name_added(client, *wanted), absence_explained(client, as_of, *wanted):
            client.get(client.path(f"{kind.replace(' ', '-')}s", narrowed[name]), as_of=as_of)


def limits(rows: int) -> Decorator:
    """Add --limit and --all, passed to the command as `limit`; None means all."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def limited(*args: Any, limit: int, show_all: bool, **kwargs: Any) -> None:
            command(*args, limit=None if show_all else limit, **kwargs)

        all_option = click.option("--all", "show_all", is_flag=True, help="Show all; overrides --limit.")
        return limit_option(rows, "Maximum number to show.")(all_option(limited))

    return decorate


def list_command(
    name: str, listing: Listing, text: str, *, rows: int = FIRST_ROWS, filters: Sequence[click.Option] = ()
) -> click.Command:
    """Return the command that shows a list; `filters` have the names of the query parameters."""

    def show(
        client: Client, output: Output, limit: int | None, as_of: str | None, **filters: str | None
    ) -> None:
        listing.show(client, output, limit, as_of, **filters)

    command = click.command(name, help=text)(limits(rows)(as_of(wide(remote(show)))))
    command.params = [*filters, *command.params]
    return command


def with_commands(listing: click.Command, *commands: click.Command) -> click.Group:
    """Return a list command with subcommands. Options of the list before a subcommand are refused."""
    show = listing.callback
    assert show is not None, "a list command has a callback"

    def shown(**given: Any) -> None:
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            show(**given)
            return
        for param in listing.params:
            if context.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"{param.opts[0]} must follow `{context.invoked_subcommand}`.")

    return SuggestingGroup(
        listing.name,
        commands,
        invoke_without_command=True,
        help=listing.help,
        params=listing.params,
        callback=shown,
    )


def since(row: Row) -> str:
    """Return the time since the field `since`, up to the moment of the answer."""
    return elapsed(row.get("since"), row.get("as_of"))
