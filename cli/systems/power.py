"""`labledger system power`: how a lab controller switches a system on and off."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.exclusion import require_exclusive
from cli.arguments.params import reason_option
from cli.arguments.secret_file import secret_file_option
from cli.directory.named import print_fields
from cli.lazy import SuggestingGroup
from cli.people.login import ask_password
from cli.remote import remote
from cli.systems.kind import SYSTEM
from cli.terminal.output import Output, note
from domain.system_admin.power import USUAL_TYPES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from api.client import Client


@click.group(cls=SuggestingGroup)
def power() -> None:
    """Show, set and remove the power settings of a system."""


@power.command
@SYSTEM.argument
@remote
def show(client: Client, output: Output, fqdn: str) -> None:
    """Show the power settings of FQDN, without the secret."""
    print_fields(output, client.get(_path(client, fqdn)))


def _usual_types(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in USUAL_TYPES if name.startswith(incomplete)]


@power.command("set")
@SYSTEM.argument
@click.argument("type_", metavar="TYPE", shell_complete=_usual_types)
@click.argument("address")
@click.option("--port", metavar="TEXT", help="Port or plug of the system at the address.")
@click.option("--user", metavar="NAME", help="User to log in as.")
@click.option("--secret", "asks", is_flag=True, help="Prompt for the secret, without echo.")
@secret_file_option()
@click.option("--no-secret", is_flag=True, help="Remove the secret.")
@remote
def set_power(
    client: Client,
    output: Output,
    fqdn: str,
    type_: str,
    address: str,
    port: str | None,
    user: str | None,
    asks: bool,
    secret: str | None,
    no_secret: bool,
) -> None:
    """Set how the lab controller of FQDN switches it: TYPE, such as ipmilan, and ADDRESS.

    Settings that are left out are removed. Without an option for it the secret stays, if TYPE and ADDRESS
    do.
    """
    require_exclusive({"--secret": asks, "--secret-file": secret, "--no-secret": no_secret})
    if asks and not sys.stdin.isatty():
        raise click.UsageError("There is no terminal to prompt on: use --secret-file.")
    body: dict[str, Any] = {"type": type_, "address": address, "port": port, "user": user}
    if no_secret:
        body["secret"] = None
    elif secret is not None:
        body["secret"] = secret
    elif asks:
        body["secret"] = ask_password(f"Secret of {address}", from_stdin=False, twice=True)
    answer = client.put(_path(client, fqdn), body)
    if not output.as_json:
        for warning in answer.get("warnings", ()):
            note(warning["message"])
    output.line(answer, f"{fqdn}: power settings {'set' if answer.get('changed', True) else 'unchanged'}")


@power.command
@SYSTEM.argument
@reason_option
@remote
def unset(client: Client, output: Output, fqdn: str, reason: str | None) -> None:
    """Remove the power settings of FQDN."""
    answer = client.delete(_path(client, fqdn), reason=reason)
    output.line(
        answer, f"{fqdn}: {'power settings removed' if answer['changed'] else 'had no power settings'}"
    )


def _path(client: Client, fqdn: str) -> str:
    return client.path(SYSTEM.plural, fqdn, "power")
