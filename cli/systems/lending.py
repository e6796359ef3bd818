"""`labledger system reserve`, `return`, `loan` and `end-loan`: reservations and loans of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.arguments.params import ID, Decorator, TimeParam, reason_option
from cli.lists import completing
from cli.remote import remote
from cli.systems.kind import SYSTEM
from cli.terminal.output import Output
from cli.terminal.wording import plain

if TYPE_CHECKING:
    from api.client import Client


def until_option(example: str, otherwise: str) -> Decorator:
    return click.option(
        "--until",
        type=TimeParam(),
        metavar="TIME",
        help=f"End, such as {example}, 'tomorrow 18:00' or '2026-12-24 18:00' [default: {otherwise}].",
    )


@click.command
@SYSTEM.argument
@click.option("--user", metavar="USER", help="Reserve for this user (admins only) [default: you].")
@until_option("8h", "none, until `system return`")
@click.option("--distro-tree", type=ID, metavar="ID", help="Install this distro tree first.")
@remote
def reserve(
    client: Client, output: Output, fqdn: str, user: str | None, until: str | None, distro_tree: int | None
) -> None:
    """Reserve FQDN for a person. The system must be idle, and either Manual or on loan to that person."""
    answer = client.put(_reservation(client, fqdn), _given(user=user, until=until, distro_tree=distro_tree))
    output.line(answer, f"{fqdn} is reserved by {plain(answer.get('user'))}")


@click.command("return")
@SYSTEM.argument
@reason_option
@remote
def give_back(client: Client, output: Output, fqdn: str, reason: str | None) -> None:
    """End the reservation of FQDN."""
    answer = client.delete(_reservation(client, fqdn), reason=reason)
    output.line(answer, f"{fqdn} {'returned' if answer.get('returned', True) else 'was not reserved'}")


@click.command
@SYSTEM.argument
@click.option(
    "--user", metavar="USER", shell_complete=completing.users, help="Lend to this user [default: you]."
)
@until_option("30d", "none, until `system end-loan`")
@remote
def loan(client: Client, output: Output, fqdn: str, user: str | None, until: str | None) -> None:
    """Lend FQDN to a user. Until the loan ends, only that user can use the system, by jobs and reservations.

    A running recipe continues. To change the end of a loan, lend the system to the same user again.
    """
    answer = client.put(_loan(client, fqdn), _given(user=user, until=until))
    output.line(answer, f"{fqdn} is on loan to {plain(answer.get('user'))}")


@click.command
@SYSTEM.argument
@reason_option
@remote
def end_loan(client: Client, output: Output, fqdn: str, reason: str | None) -> None:
    """End the loan of FQDN, as its borrower or as a user who may lend it to others.

    A reservation that only the loan allowed ends, too. A running recipe continues.
    """
    answer = client.delete(_loan(client, fqdn), reason=reason)
    output.line(
        answer, f"{fqdn} {'is no longer on loan' if answer.get('ended', True) else 'was not on loan'}"
    )


def _reservation(client: Client, fqdn: str) -> str:
    return client.path(SYSTEM.plural, fqdn, "reservation")


def _loan(client: Client, fqdn: str) -> str:
    return client.path(SYSTEM.plural, fqdn, "loan")


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
