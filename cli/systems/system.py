"""`labledger system`: one system, shown and changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of
from cli.arguments.assignments import assigned, assignments_argument
from cli.arguments.params import OneOf
from cli.directory.named import show_one
from cli.lazy import Group
from cli.remote import remote
from cli.systems.history import of_system as history_of_system
from cli.systems.kind import SYSTEM
from cli.systems.lending import end_loan, give_back, loan, reserve
from cli.systems.usage import of_system as usage_of_system
from cli.terminal.output import Output
from domain.system.lifecycle import CONDITIONS

if TYPE_CHECKING:
    from api.client import Client

reason_option = click.option("--reason", default="", help="Kept in the log.")


@click.group(cls=Group)
def system() -> None:
    """Show a system, add, change, reserve and lend one."""


@system.command
@SYSTEM.argument
@as_of
@remote
def show(client: Client, output: Output, fqdn: str, as_of: str | None) -> None:
    """Show all that is known of FQDN."""
    show_one(client, output, SYSTEM, fqdn, as_of)


for command in (usage_of_system, history_of_system, reserve, give_back, loan, end_loan):
    system.add_command(command)


@system.command
@SYSTEM.argument
@assignments_argument
@remote
def add(client: Client, output: Output, fqdn: str, changes: tuple[str, ...]) -> None:
    """Add the system FQDN: lab_controller=lab.example.com owner=alice 'arches=["x86_64"]' memory_mb=65536.

    A VALUE that is JSON is taken as that, any other as text. Many at once: `labledger lab load`.
    """
    output.line(client.post("/systems", {**assigned(changes), "fqdn": fqdn}), f"{fqdn} added")


@system.command("set")
@SYSTEM.argument
@assignments_argument
@remote
def set_properties(client: Client, output: Output, fqdn: str, changes: tuple[str, ...]) -> None:
    """Change properties of FQDN: memory_mb=65536, owner=alice, cpu.cores=8, 'arches=["x86_64"]', vendor=null.

    A VALUE that is JSON is taken as that, any other as text; null forgets the property.
    """
    _patch(client, output, fqdn, assigned(changes), "changed", "is so already")


@system.command("set-condition")
@SYSTEM.argument
@click.argument("condition", type=OneOf(CONDITIONS))
@reason_option
@remote
def set_condition(client: Client, output: Output, fqdn: str, condition: str, reason: str) -> None:
    """Make FQDN Automated, Manual, Broken or Removed.

    Broken and Removed abort a recipe that has started there. A recipe that has not started goes back to the
    queue; a Broken system stays with a recipe that forces it.
    """
    body = {"condition": condition, "reason": reason}
    _patch(client, output, fqdn, body, f"is now {condition}", f"was {condition} already")


@system.command
@SYSTEM.argument
@reason_option
@remote
def drain(client: Client, output: Output, fqdn: str, reason: str) -> None:
    """Let FQDN finish what it runs and take nothing new."""
    body = {"draining": True, "reason": reason}
    _patch(client, output, fqdn, body, "is draining", "was draining already")


@system.command
@SYSTEM.argument
@remote
def undrain(client: Client, output: Output, fqdn: str) -> None:
    """Let FQDN take recipes again."""
    _patch(client, output, fqdn, {"draining": False}, "takes recipes again", "was not draining")


def _patch(client: Client, output: Output, fqdn: str, body: dict[str, Any], done: str, known: str) -> None:
    answer = client.patch(SYSTEM.of(client, fqdn), body)
    output.line(answer, f"{fqdn} {done if answer.get('changed', True) else known}")
