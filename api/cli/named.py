"""`labledger lab-controller` and `distro-tree`: named things that are switched on, off and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from api.cli.lazy import Group
from api.cli.output import Output
from api.cli.params import ID
from api.cli.remote import remote

if TYPE_CHECKING:
    from api.client import Client


@click.group("lab-controller", cls=Group)
def lab_controller() -> None:
    """Enable or disable a lab controller."""


@lab_controller.command
@click.argument("fqdn")
@remote
def enable(client: Client, output: Output, fqdn: str) -> None:
    """Let recipes have the systems of FQDN again."""
    _switch(client, output, fqdn, enabled=True)


@lab_controller.command
@click.argument("fqdn")
@remote
def disable(client: Client, output: Output, fqdn: str) -> None:
    """Give no system of FQDN to recipes any more; those that run go on."""
    _switch(client, output, fqdn, enabled=False)


def _switch(client: Client, output: Output, fqdn: str, *, enabled: bool) -> None:
    answer = client.patch(f"/lab-controllers/{quote(fqdn, safe='')}", {"enabled": enabled})
    said = "is now" if answer.get("changed", True) else "was already"
    output.line(answer, f"{fqdn} {said} {'enabled' if enabled else 'disabled'}")


@click.group("distro-tree", cls=Group)
def distro_tree() -> None:
    """Remove a distro tree."""


@distro_tree.command
@click.argument("tree_id", metavar="ID", type=ID)
@remote
def remove(client: Client, output: Output, tree_id: int) -> None:
    """Take the tree ID out of every lab; loading it again brings it back."""
    answer = client.delete(f"/distro-trees/{tree_id}")
    said = "removed" if answer.get("removed", True) else "was removed already"
    output.line(answer, f"distro tree {tree_id} {said}")
