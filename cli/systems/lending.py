"""`labledger system reserve`, `return`, `loan` and `end-loan`: reservations and loans of systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.params import ID, TimeParam
from cli.lists import completing
from cli.remote import remote
from cli.systems.kind import SYSTEM
from cli.terminal.output import Output
from cli.terminal.wording import plain

if TYPE_CHECKING:
    from api.client import Client

Command = Callable[..., None]


def until_option(example: str, otherwise: str) -> Callable[[Command], Command]:
    return click.option(
        "--until",
        type=TimeParam(),
        metavar="TIME",
        help=f"End, such as {example}, 'tomorrow 18:00' or '2026-12-24 18:00' [default: until {otherwise}].",
    )


@click.command
@SYSTEM.argument
@click.option("--user", help="Reserve for another user (admins only).")
@until_option("8h", "it is returned")
@click.option("--distro-tree", type=ID, metavar="ID", help="Install this distro tree first.")
@remote
def reserve(
    client: Client,
    output: Output,
    fqdn: str,
    user: str | None,
    until: str | None,
    distro_tree: int | None,
) -> None:
    """Reserve FQDN. It must be idle, and either Manual or on loan to you."""
    answer = client.put(_reservation(client, fqdn), _given(user=user, until=until, distro_tree=distro_tree))
    output.line(answer, f"{fqdn} is reserved by {plain(answer.get('user'))}")


@click.command("return")
@SYSTEM.argument
@remote
def give_back(client: Client, output: Output, fqdn: str) -> None:
    """End the reservation of FQDN."""
    answer = client.delete(_reservation(client, fqdn))
    output.line(answer, f"{fqdn} {'returned' if answer.get('returned', True) else 'was not reserved'}")


@click.command
@SYSTEM.argument
@click.option("--user", shell_complete=completing.users, help="Borrower [default: you].")
@until_option("30d", "the loan is ended")
@remote
def loan(client: Client, output: Output, fqdn: str, user: str | None, until: str | None) -> None:
    """Lend FQDN to a user, who alone may use it then. A running recipe continues."""
    answer = client.put(_loan(client, fqdn), _given(user=user, until=until))
    output.line(answer, f"{fqdn} is on loan to {plain(answer.get('user'))}")


@click.command
@SYSTEM.argument
@remote
def end_loan(client: Client, output: Output, fqdn: str) -> None:
    """End the loan of FQDN. The borrower and everyone who may lend the system can do this."""
    answer = client.delete(_loan(client, fqdn))
    output.line(
        answer, f"{fqdn} {'is no longer on loan' if answer.get('ended', True) else 'was not on loan'}"
    )


def _reservation(client: Client, fqdn: str) -> str:
    return client.path(SYSTEM.plural, fqdn, "reservation")


def _loan(client: Client, fqdn: str) -> str:
    return client.path(SYSTEM.plural, fqdn, "loan")


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
