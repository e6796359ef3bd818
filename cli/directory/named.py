"""The commands `show` and `delete`, and the request of `put`, for all kinds of named objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, read_as_of
from cli.arguments.params import Decorator, no_option, reason_option
from cli.lazy import SuggestingGroup
from cli.remote import remote
from cli.terminal.output import Output, note
from cli.terminal.wording import plain
from domain.errors import listed

if TYPE_CHECKING:
    from api.client import Client

Show = Callable[..., None]

NOT_SHOWN: tuple[Any, ...] = (None, [], "", {})
# Fields of an answer that are not properties of the object.
ANSWER_FIELDS = ("position", "as_of")


@dataclass(frozen=True)
class Kind:
    """A kind of named objects: its name, its path, and the argument that names one.

    `force` says what `delete --force` does; without it there is no such option.
    """

    called: str
    plural: str
    argument: Decorator
    force: str = ""

    def of(self, client: Client, name: object) -> str:
        return client.path(self.plural, name)

    def put(self, client: Client, output: Output, name: object, body: Mapping[str, Any]) -> None:
        self.print_put(output, name, client.put(self.of(client, name), body))

    def print_put(self, output: Output, name: object, answer: Mapping[str, Any]) -> None:
        outcome = "added" if answer.get("added") else "changed" if answer.get("changed") else "unchanged"
        would_be = "would be " if answer.get("dry_run") else ""
        output.line(answer, f"{self.called} {name} {would_be}{outcome}")

    def print_deleted(self, output: Output, name: object, answer: Mapping[str, Any]) -> None:
        done = "deleted" if answer.get("removed", True) else "was already deleted"
        output.line(answer, f"{self.called} {name} {done}")
        if (naming := answer.get("named_in")) and not output.as_json:
            configurations = f"the configurations of these partitions still name it: {listed(naming)}"
            note(f"{configurations}; it cannot be added again until they drop it (labledger partition apply)")


def show_one(client: Client, output: Output, kind: Kind, name: object, as_of: str | None = None) -> None:
    print_fields(output, read_one(client, output, kind, name, as_of))


def read_one(client: Client, output: Output, kind: Kind, name: object, as_of: str | None) -> dict[str, Any]:
    return read_as_of(client, output, kind.of(client, name), kind.called, name, as_of)


def print_fields(output: Output, document: Mapping[str, Any]) -> None:
    properties = {name: value for name, value in document.items() if name not in ANSWER_FIELDS}
    shown = {name: value for name, value in properties.items() if value not in NOT_SHOWN}
    output.line(document, "\n".join(f"{name}: {plain(value)}" for name, value in shown.items()))


def group_of(name: str, kind: Kind, text: str, show_one: Show = show_one) -> SuggestingGroup:
    """Return the group of commands of a kind, with `show` and `delete`."""
    group = SuggestingGroup(name, help=text)
    forced: Decorator = click.option("--force", is_flag=True, help=kind.force) if kind.force else no_option

    @group.command(help=f"Show all properties of a {kind.called}.")
    @kind.argument
    @as_of
    @remote
    def show(client: Client, output: Output, name: str, as_of: str | None) -> None:
        show_one(client, output, kind, name, as_of)

    @group.command(
        help=f"Delete a {kind.called}. The log keeps its history. A new one of that name starts without it."
    )
    @kind.argument
    @forced
    @reason_option
    @remote
    def delete(client: Client, output: Output, name: str, reason: str | None, force: bool = False) -> None:
        answer = client.delete(kind.of(client, name), force=force or None, reason=reason)
        kind.print_deleted(output, name, answer or {})

    return group
