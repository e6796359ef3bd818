"""The kinds of things that commands name."""

from __future__ import annotations

import click

from cli.arguments.params import ID
from cli.lists import completing
from cli.things.named import Kind

USER = Kind("user", "users", click.argument("name", shell_complete=completing.users))
GROUP = Kind("group", "groups", click.argument("name", shell_complete=completing.groups))
POOL = Kind("pool", "pools", click.argument("name", shell_complete=completing.pools))
LAB_CONTROLLER = Kind(
    "lab controller",
    "lab-controllers",
    click.argument("name", metavar="FQDN", shell_complete=completing.lab_controllers),
)
DISTRO_TREE = Kind(
    "distro tree",
    "distro-trees",
    click.argument("name", metavar="ID", type=ID, shell_complete=completing.distro_trees),
)
SYSTEM = Kind("system", "systems", click.argument("fqdn", shell_complete=completing.systems))
