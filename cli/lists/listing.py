"""A list: its path, the name of its rows, the columns people see; and the command that shows it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cli.arguments.as_of import as_of
from cli.arguments.params import Whole
from cli.arguments.then import tell_moment, there_then
from cli.lazy import Group
from cli.remote import remote, wide
from cli.terminal.output import Output, note
from cli.terminal.progress import counting
from cli.terminal.tables import Column, Row
from cli.terminal.wording import elapsed

if TYPE_CHECKING:
    from api.client import Client

FIRST_ROWS = 100
# Filters that name something, and what they name.
NAMED = {"owner": "user", "group": "group", "pool": "pool", "lab_controller": "lab controller"}


@dataclass(frozen=True)
class Listing:
    """A list of the API; `empty` is what people read where it has no rows, `was_empty` where it had none.

    `none_of` and `were_none_of` are that where it was narrowed down, if there is more to say than its name.
    """

    path: str
    name: str
    columns: tuple[Column, ...]
    empty: str
    was_empty: str = ""
    none_of: str = ""
    were_none_of: str = ""

    def show(
        self, client: Client, output: Output, limit: int | None, as_of: str | None, **filters: str | None
    ) -> None:
        with counting(f"reading {self._called}") as seen:
            document = client.pages(self.path, self.name, limit=limit, seen=seen, as_of=as_of, **filters)
        narrowed = {name: given for name, given in filters.items() if given is not None}
        if not document[self.name]:
            require_known(client, as_of, narrowed)
        tell_moment(client, output, as_of, document)
        output.rows(document, self.name, self.columns, empty=self._empty(as_of is not None, narrowed))
        if document["next"] is not None and not output.as_json:
            note(f"more: --all shows them, or --limit N the first N; these are {len(document[self.name])}")

    def _empty(self, then: bool, narrowed: Mapping[str, str]) -> str:
        if narrowed and self.none_of:
            return (self.were_none_of if then else self.none_of).format(**narrowed)
        if narrowed:
            asked = ", ".join(f"{name.replace('_', ' ')} {given}" for name, given in narrowed.items())
            return f"{'There were' if then else 'There are'} no {self._called} of {asked}{' then' * then}."
        return (self.was_empty or f"There were no {self._called} then.") if then else self.empty

    @property
    def _called(self) -> str:
        return self.name.replace("_", " ")


def require_known(client: Client, as_of: str | None, narrowed: Mapping[str, str]) -> None:
    """Nothing is of somebody whom nobody knows. Raises Problem, which says so."""
    for name, what in NAMED.items():
        if name in narrowed:
            with there_then(client, as_of, what, narrowed[name]):
                client.get(client.path(f"{what.replace(' ', '-')}s", narrowed[name]), as_of=as_of)


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


def list_command(
    name: str,
    listing: Listing,
    text: str,
    *,
    rows: int = FIRST_ROWS,
    filters: Sequence[click.Option] = (),
) -> click.Command:
    """The command that shows a list; `filters` are called as the API calls them."""

    def shown(
        client: Client, output: Output, limit: int | None, as_of: str | None, **filters: str | None
    ) -> None:
        listing.show(client, output, limit, as_of, **filters)

    made = click.command(name, help=text)(limits(rows)(as_of(wide(remote(shown)))))
    made.params = [*filters, *made.params]
    return made


def with_commands(listing: click.Command, *commands: click.Command) -> click.Group:
    """A list that has commands as well. What narrows down the list says nothing to them."""
    show = listing.callback
    assert show is not None, "a list is shown by something"

    def shown(**given: Any) -> None:
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            show(**given)
            return
        for param in listing.params:
            if context.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
                raise click.UsageError(
                    f"{param.opts[0]} stands before `{context.invoked_subcommand}`: put it behind."
                )

    return Group(
        listing.name,
        commands,
        invoke_without_command=True,
        help=listing.help,
        params=listing.params,
        callback=shown,
    )


def since(row: Row) -> str:
    """How long it has been so, by the moment that the answer is about."""
    return elapsed(row.get("since"), row.get("as_of"))
