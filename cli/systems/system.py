"""`labledger system`: commands that show and change systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of
from cli.arguments.params import assigned, assignments_argument, reason_option
from cli.directory.named import show_one
from cli.lazy import SuggestingGroup
from cli.remote import remote
from cli.systems.changes import condition, drain, undrain
from cli.systems.history import of_system as history_of_system
from cli.systems.kind import SYSTEM
from cli.systems.lending import end_loan, give_back, loan, reserve
from cli.systems.notes import note
from cli.systems.power import power
from cli.systems.usage import of_system as usage_of_system
from cli.terminal.output import Output

if TYPE_CHECKING:
    from api.client import Client


@click.group(cls=SuggestingGroup)
def system() -> None:
    """Show, add, change, reserve and lend a system."""


@system.command
@SYSTEM.argument
@as_of
@remote
def show(client: Client, output: Output, fqdn: str, as_of: str | None) -> None:
    """Show all properties of FQDN."""
    show_one(client, output, SYSTEM, fqdn, as_of)


for command in (
    *(usage_of_system, history_of_system, drain, undrain, condition),
    *(reserve, give_back, loan, end_loan, note, power),
):
    system.add_command(command)


@system.command
@SYSTEM.argument
@assignments_argument
@remote
def add(client: Client, output: Output, fqdn: str, changes: tuple[str, ...]) -> None:
    """Add the system FQDN: lab_controller=lab.example.com owner=alice 'arches=["x86_64"]' memory_mb=65536.

    VALUE is JSON, or text if it is not valid JSON. Use `labledger systems import` to add many systems.
    """
    output.line(client.post("/systems", {**assigned(changes), "fqdn": fqdn}), f"{fqdn} added")


@system.command("set")
@SYSTEM.argument
@assignments_argument
@remote
def set_properties(client: Client, output: Output, fqdn: str, changes: tuple[str, ...]) -> None:
    """Change properties of FQDN: memory_mb=65536, owner=alice, cpu.cores=8, 'arches=["x86_64"]', vendor=null.

    VALUE is JSON, or text if it is not valid JSON; null clears the property.
    """
    _patch(client, output, fqdn, assigned(changes), "changed", "unchanged")


@system.command
@SYSTEM.argument
@reason_option
@remote
def vacate(client: Client, output: Output, fqdn: str, reason: str | None) -> None:
    """Record that FQDN is vacant, after a person has made sure: it is no longer occupied. For admins."""
    occupied = client.get(SYSTEM.of(client, fqdn)).get("occupied")
    if occupied is None:
        output.line({"resolved": False}, f"{fqdn} was not occupied")
        return
    body = {"reason": reason or "a person found it vacant"}
    answer = client.post(f"/reconciliations/{occupied['id']}/resolve", body)
    output.line(answer, f"{fqdn} is vacant")


def _patch(
    client: Client, output: Output, fqdn: str, body: dict[str, Any], done: str, unchanged: str
) -> None:
    answer = client.patch(SYSTEM.of(client, fqdn), body)
    output.line(answer, f"{fqdn} {done if answer.get('changed', True) else unchanged}")
