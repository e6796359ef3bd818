"""`labledger user`, `group`, `pool`, `lab-controller`, `distro-tree`: one object at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.params import ID, WordChoice, assigned, assignments_argument, reason_option
from cli.directory.named import Kind, group_of, print_fields, read_one
from cli.lists import completing
from cli.lists.systems import SYSTEMS
from cli.remote import remote
from cli.terminal.output import Output
from domain.directory.roles import ROLES

if TYPE_CHECKING:
    from api.client import Client

USER = Kind(
    "user",
    "users",
    click.argument("name", shell_complete=completing.users),
    force="Delete also a user with unfinished jobs, kept systems, groups, reservations or loans.",
)
GROUP = Kind("group", "groups", click.argument("name", shell_complete=completing.groups))
POOL = Kind(
    "pool",
    "pools",
    click.argument("name", shell_complete=completing.pools),
    force="Delete also a pool with systems, or that unfinished jobs or maintenance windows name.",
)
LAB_CONTROLLER = Kind(
    "lab controller",
    "lab-controllers",
    click.argument("name", metavar="FQDN", shell_complete=completing.lab_controllers),
    force="Abort its recipes and remove its systems first.",
)
DISTRO_TREE = Kind(
    "distro tree",
    "distro-trees",
    click.argument("name", metavar="ID", type=ID, shell_complete=completing.distro_trees),
)


def show_pool(client: Client, output: Output, kind: Kind, name: object, as_of: str | None) -> None:
    """Show a pool and its systems."""
    document = read_one(client, output, kind, name, as_of)
    systems = client.pages(SYSTEMS.path, SYSTEMS.name, pool=name, as_of=as_of)[SYSTEMS.name]
    if output.as_json:
        output.document({**document, "systems": [row["fqdn"] for row in systems]})
        return
    print_fields(output, {**document, "systems": len(systems)})
    if systems:
        click.echo()
        output.table(SYSTEMS.columns_for(systems), systems)


user = group_of("user", USER, "Show, add, change and delete a user.")
group = group_of("group", GROUP, "Show, add, change and delete a group of users.")
pool = group_of("pool", POOL, "Show, add, change and delete a pool; add and remove its systems.", show_pool)
lab_controller = group_of(
    "lab-controller", LAB_CONTROLLER, "Show, add, enable, disable and delete a lab controller."
)
distro_tree = group_of("distro-tree", DISTRO_TREE, "Show, add, change and delete a distro tree.")

users_argument = click.argument(
    "users", metavar="USER…", nargs=-1, required=True, shell_complete=completing.users
)


@user.command("put")
@USER.argument
@click.option(
    "--role",
    "roles",
    type=WordChoice(ROLES),
    multiple=True,
    help="Role that the user can have in tokens and logins; repeatable. The first is the default of a login.",
)
@click.option("--email", metavar="ADDRESS", help="Email address [default: none].")
@remote
def put_user(client: Client, output: Output, name: str, roles: tuple[str, ...], email: str | None) -> None:
    """Add the user NAME, or replace its roles and email address.

    Without --role a user keeps its roles. Without --email a user loses its address.
    """
    body = {"roles": list(roles) or None, "email": email}
    USER.put(client, output, name, {key: value for key, value in body.items() if value is not None})


@group.command("put")
@GROUP.argument
@click.option("--member", "members", metavar="USER", multiple=True, help="Member; repeatable.")
@click.option("--owner", "owners", metavar="USER", multiple=True, help="Owner; repeatable.")
@remote
def put_group(
    client: Client, output: Output, name: str, members: tuple[str, ...], owners: tuple[str, ...]
) -> None:
    """Add the group NAME with these members and owners, or replace the members and owners of a group."""
    GROUP.put(client, output, name, {"members": list(members), "owners": list(owners)})


@group.command("add-member")
@GROUP.argument
@users_argument
@remote
def add_member(client: Client, output: Output, name: str, users: tuple[str, ...]) -> None:
    """Add USERs to the members of the group NAME."""
    _edit_members(client, output, name, lambda members: list(dict.fromkeys([*members, *users])))


@group.command("remove-member")
@GROUP.argument
@users_argument
@remote
def remove_member(client: Client, output: Output, name: str, users: tuple[str, ...]) -> None:
    """Remove USERs from the members of the group NAME."""
    _edit_members(client, output, name, lambda members: [user for user in members if user not in users])


def _edit_members(
    client: Client, output: Output, name: str, change: Callable[[list[str]], list[str]]
) -> None:
    def changed(group: dict[str, Any]) -> dict[str, Any]:
        return {"members": change(group["members"]), "owners": group["owners"]}

    GROUP.print_put(output, name, client.edit(GROUP.of(client, name), changed))


@pool.command("put")
@POOL.argument
@click.option("--owner-group", metavar="GROUP", help="Group that owns the pool [default: none].")
@click.option("--description", metavar="TEXT", help="Description of the pool [default: unchanged].")
@remote
def put_pool(
    client: Client, output: Output, name: str, owner_group: str | None, description: str | None
) -> None:
    """Add the pool NAME, or change its owner group and description. Its systems stay."""
    described = {} if description is None else {"description": description}
    POOL.put(client, output, name, {"owner_group": owner_group, **described})


@pool.command("add-system")
@POOL.argument
@click.argument("fqdns", metavar="FQDN…", nargs=-1, required=True, shell_complete=completing.systems)
@remote
def add_system(client: Client, output: Output, name: str, fqdns: tuple[str, ...]) -> None:
    """Add the systems FQDN… to the pool NAME; with --json, print a line for each."""
    for fqdn in fqdns:
        output.line(client.put(_member(client, name, fqdn), {}), f"{fqdn} is in pool {name}")


@pool.command("remove-system")
@POOL.argument
@click.argument("fqdns", metavar="FQDN…", nargs=-1, required=True, shell_complete=completing.systems)
@reason_option
@remote
def remove_system(
    client: Client, output: Output, name: str, fqdns: tuple[str, ...], reason: str | None
) -> None:
    """Remove the systems FQDN… from the pool NAME; with --json, print a line for each."""
    for fqdn in fqdns:
        output.line(
            client.delete(_member(client, name, fqdn), reason=reason), f"{fqdn} is not in pool {name}"
        )


def _member(client: Client, name: str, fqdn: str) -> str:
    return client.path(POOL.plural, name, "systems", fqdn)


@lab_controller.command("put")
@LAB_CONTROLLER.argument
@click.option(
    "--enabled/--disabled", default=True, help="Whether recipes get its systems [default: enabled]."
)
@reason_option
@remote
def put_lab_controller(client: Client, output: Output, name: str, enabled: bool, reason: str | None) -> None:
    """Add the lab controller FQDN, or enable or disable it; --reason says why an enabled one is disabled."""
    LAB_CONTROLLER.put(client, output, name, {"enabled": enabled, **_reason_field(reason)})


@lab_controller.command
@LAB_CONTROLLER.argument
@remote
def enable(client: Client, output: Output, name: str) -> None:
    """Let recipes get the systems of FQDN again."""
    _switch(client, output, name, {"enabled": True})


@lab_controller.command
@LAB_CONTROLLER.argument
@reason_option
@remote
def disable(client: Client, output: Output, name: str, reason: str | None) -> None:
    """Stop granting the systems of FQDN to recipes; started recipes continue."""
    _switch(client, output, name, {"enabled": False, **_reason_field(reason)})


def _reason_field(reason: str | None) -> dict[str, str]:
    return {} if reason is None else {"reason": reason}


def _switch(client: Client, output: Output, fqdn: str, change: dict[str, Any]) -> None:
    answer = client.patch(LAB_CONTROLLER.of(client, fqdn), change)
    outcome = "is now" if answer.get("changed", True) else "was already"
    output.line(answer, f"{fqdn} {outcome} {'enabled' if change['enabled'] else 'disabled'}")


@distro_tree.command("put")
@DISTRO_TREE.argument
@assignments_argument
@remote
def put_tree(client: Client, output: Output, name: int, changes: tuple[str, ...]) -> None:
    """Add the tree ID, or replace it: name=Fedora-44 family=Fedora44 arch=x86_64 'tags=["STABLE"]'
    'urls={"lab.example.com": ["http://…"]}'.

    VALUE is JSON, or text if it is not valid JSON.
    """
    DISTRO_TREE.put(client, output, name, assigned(changes))
