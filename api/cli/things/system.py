"""`labledger system`: one system, shown, changed, and reserved by a person or lent to one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from api.cli.arguments.as_of import as_of
from api.cli.arguments.assignments import assigned, assignments_argument
from api.cli.arguments.params import ID, Moment, OneOf
from api.cli.lazy import Group
from api.cli.lists import completing
from api.cli.remote import remote
from api.cli.terminal.output import Output
from api.cli.terminal.wording import plain
from api.cli.things.history import of_system as history_of_system
from api.cli.things.named import Kind, show_one
from api.cli.things.usage import of_system as usage_of_system
from domain.system.lifecycle import CONDITIONS

if TYPE_CHECKING:
    from api.client import Client

fqdn_argument = click.argument("fqdn", shell_complete=completing.systems)
SYSTEM = Kind("system", "systems", fqdn_argument)
reason_option = click.option("--reason", default="", help="Kept in the log.")


@click.group(cls=Group)
def system() -> None:
    """Show a system, add, change, reserve and lend one."""


@system.command
@fqdn_argument
@as_of
@remote
def show(client: Client, output: Output, fqdn: str, as_of: str | None) -> None:
    """Show all that is known of FQDN."""
    show_one(client, output, SYSTEM, fqdn, as_of)


system.add_command(usage_of_system)
system.add_command(history_of_system)


@system.command
@fqdn_argument
@assignments_argument
@remote
def add(client: Client, output: Output, fqdn: str, changes: tuple[str, ...]) -> None:
    """Add the system FQDN: lab_controller=lab.example.com owner=alice 'arches=["x86_64"]' memory_mb=65536.

    A VALUE that is JSON is taken as that, any other as text. Many at once: `labledger lab load`.
    """
    output.line(client.post("/systems", {**assigned(changes), "fqdn": fqdn}), f"{fqdn} added")


@system.command("set")
@fqdn_argument
@assignments_argument
@remote
def set_properties(client: Client, output: Output, fqdn: str, changes: tuple[str, ...]) -> None:
    """Change properties of FQDN: memory_mb=65536, owner=alice, cpu.cores=8, 'arches=["x86_64"]', vendor=null.

    A VALUE that is JSON is taken as that, any other as text; null forgets the property.
    """
    _patch(client, output, fqdn, assigned(changes), "changed", "is so already")


@system.command("set-condition")
@fqdn_argument
@click.argument("condition", type=OneOf(CONDITIONS))
@reason_option
@remote
def set_condition(client: Client, output: Output, fqdn: str, condition: str, reason: str) -> None:
    """Make FQDN Automated, Manual, Broken or Removed.

    Broken and Removed abort the recipe that runs there; one that has not started goes back to the queue.
    """
    body = {"condition": condition, "reason": reason}
    _patch(client, output, fqdn, body, f"is now {condition}", f"was {condition} already")


@system.command
@fqdn_argument
@reason_option
@remote
def drain(client: Client, output: Output, fqdn: str, reason: str) -> None:
    """Let FQDN finish what it runs and take nothing new."""
    body = {"draining": True, "reason": reason}
    _patch(client, output, fqdn, body, "is draining", "was draining already")


@system.command
@fqdn_argument
@remote
def undrain(client: Client, output: Output, fqdn: str) -> None:
    """Let FQDN take recipes again."""
    _patch(client, output, fqdn, {"draining": False}, "takes recipes again", "was not draining")


@system.command
@fqdn_argument
@click.option("--user", help="For somebody else, which takes an admin.")
@click.option(
    "--until",
    type=Moment(),
    metavar="TIME",
    help="As 8h, 'tomorrow 18:00' or '2026-12-24 18:00' [until it is returned].",
)
@click.option("--distro-tree", type=ID, metavar="ID", help="Install this one first.")
@remote
def reserve(
    client: Client,
    output: Output,
    fqdn: str,
    user: str | None,
    until: str | None,
    distro_tree: int | None,
) -> None:
    """Reserve FQDN, which must be idle, and Manual or on loan to you."""
    asked = {"user": user, "until": until, "distro_tree": distro_tree}
    body = {name: value for name, value in asked.items() if value is not None}
    answer = client.put(client.path("systems", fqdn, "reservation"), body)
    output.line(answer, f"{fqdn} is reserved by {plain(answer.get('user'))}")


@system.command("return")
@fqdn_argument
@remote
def give_back(client: Client, output: Output, fqdn: str) -> None:
    """Return FQDN, which a person has reserved."""
    answer = client.delete(client.path("systems", fqdn, "reservation"))
    output.line(answer, f"{fqdn} {'returned' if answer.get('returned', True) else 'was not reserved'}")


@system.command
@fqdn_argument
@click.option("--user", shell_complete=completing.users, help="Who borrows it [you].")
@click.option(
    "--until",
    type=Moment(),
    metavar="TIME",
    help="As 30d, 'tomorrow 18:00' or '2026-12-24 18:00' [until the loan is ended].",
)
@remote
def loan(client: Client, output: Output, fqdn: str, user: str | None, until: str | None) -> None:
    """Lend FQDN to a person, who alone may use it then. What runs there goes on."""
    body = {name: value for name, value in {"user": user, "until": until}.items() if value is not None}
    answer = client.put(client.path("systems", fqdn, "loan"), body)
    output.line(answer, f"{fqdn} is on loan to {plain(answer.get('user'))}")


@system.command("end-loan")
@fqdn_argument
@remote
def end_loan(client: Client, output: Output, fqdn: str) -> None:
    """End the loan of FQDN: by who has it, or who may lend it."""
    answer = client.delete(client.path("systems", fqdn, "loan"))
    output.line(answer, f"{fqdn} {'is on loan no more' if answer.get('ended', True) else 'was not on loan'}")


def _patch(client: Client, output: Output, fqdn: str, body: dict[str, Any], done: str, known: str) -> None:
    answer = client.patch(client.path("systems", fqdn), body)
    output.line(answer, f"{fqdn} {done if answer.get('changed', True) else known}")
