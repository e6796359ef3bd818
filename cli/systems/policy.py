"""`labledger policy`: the access policies of systems and pools."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import IO, TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, read_as_of
from cli.arguments.params import Command, WordChoice, read_json
from cli.lazy import SuggestingGroup
from cli.lists import completing
from cli.remote import remote
from cli.terminal.output import Output, note
from cli.terminal.tables import Column, Row
from domain.access.policy import PERMISSIONS, SUBMIT
from domain.priority import Priority

if TYPE_CHECKING:
    from api.client import Client

Entry = dict[str, Any]


def _grantee(entry: Row) -> str:
    names = ((kind, entry.get(kind)) for kind in ("user", "group"))
    return next((f"{kind} {name}" for kind, name in names if name), "everybody")


COLUMNS = (
    Column("permission", "permission", rank=0),
    Column("for", _grantee, rank=0),
    Column("maximum effective priority", "maximum_effective_priority"),
)

permissions_argument = click.argument(
    "permissions", metavar="PERMISSION…", nargs=-1, required=True, type=WordChoice(PERMISSIONS)
)
PERMISSIONS_HELP = """

    Name the system or pool of the policy: --system FQDN or --pool NAME.

    \b
    PERMISSION is one of:
      view            see the system, its usage and its history
      edit_policy     change the access policy of the system, and its pools
      edit_system     change, drain and remove the system
      loan_any        lend the system to any user, and end any loan
      loan_self       borrow the system
      control_system  end the reservation of another user
      reserve         reserve the system
      submit          run jobs on the system
"""


def with_permissions(command: Command) -> Command:
    command.__doc__ = f"{command.__doc__}{PERMISSIONS_HELP}"
    return permissions_argument(command)


def owner_options(command: Command) -> Command:
    system = click.option(
        "--system", metavar="FQDN", shell_complete=completing.systems, help="Policy of this system."
    )
    pool = click.option(
        "--pool", metavar="NAME", shell_complete=completing.pools, help="Policy of this pool."
    )
    return system(pool(command))


def grantee_options(command: Command) -> Command:
    several = partial(click.option, multiple=True)
    user = several(
        "--user", "users", metavar="USER", shell_complete=completing.users, help="For this user; repeatable."
    )
    members = "For the members of this group; repeatable."
    group = several("--group", "groups", metavar="GROUP", shell_complete=completing.groups, help=members)
    return user(group(click.option("--everybody", is_flag=True, help="For all users.")(command)))


@click.group(cls=SuggestingGroup)
def policy() -> None:
    """Show and change the access policies of systems and pools."""


@policy.command
@click.argument("fqdn", required=False, shell_complete=completing.systems)
@owner_options
@as_of
@remote
def show(
    client: Client,
    output: Output,
    fqdn: str | None,
    system: str | None,
    pool: str | None,
    as_of: str | None,
) -> None:
    """Show the access policy of a system or pool: a row for each permission of a user, a group or everybody.

    Name the system or pool: FQDN, --system FQDN or --pool NAME.
    """
    if fqdn is not None and system is not None:
        raise click.UsageError("Name the system once: FQDN or --system FQDN.")
    system = fqdn or system
    path, kind, name = _policy_of(client, system, pool)
    document = read_as_of(client, output, path, kind, name, as_of)
    output.rows(document, "entries", COLUMNS, empty="The policy has no entries: it grants no permissions.")
    if system is None or output.as_json:
        return
    if document.get("active_pool"):
        note(f"except for {SUBMIT}, the policy of pool {document['active_pool']} applies instead of this one")
    if pools := _pools_with_submit(client, system, as_of):
        names = f"pool {pools[0]}" if len(pools) == 1 else f"pools {', '.join(pools)} together"
        note(
            f"{SUBMIT} is granted by {names}, not by this policy:"
            f" run `labledger policy show --pool {pools[0]}`"
        )


def _pools_with_submit(client: Client, system: str, as_of: str | None) -> list[str]:
    """Return the pools of a system that grant submit. If any does, its own submit entries do not count."""
    pools = client.get(client.path("systems", system), as_of=as_of)["pools"]
    policies = {pool: client.get(client.path("pools", pool, "access-policy"), as_of=as_of) for pool in pools}
    return [
        pool
        for pool, policy in policies.items()
        if any(entry["permission"] == SUBMIT for entry in policy["entries"])
    ]


@policy.command
@with_permissions
@owner_options
@grantee_options
@click.option(
    "--maximum",
    type=WordChoice(tuple(Priority.__members__)),
    help=f"With {SUBMIT}: the maximum effective priority of their jobs [default: Urgent].",
)
@remote
def grant(
    client: Client,
    output: Output,
    permissions: tuple[str, ...],
    system: str | None,
    pool: str | None,
    maximum: str | None,
    **grantees: Any,
) -> None:
    """Grant PERMISSIONs to users, groups or everybody.

    Granting submit again replaces the maximum effective priority.
    """
    new = _entries(permissions, **grantees)
    if maximum is not None and SUBMIT not in permissions:
        raise click.UsageError(f"--maximum requires the permission {SUBMIT}.")
    for entry in new if maximum is not None else ():
        if entry["permission"] == SUBMIT:
            entry["maximum_effective_priority"] = maximum
    _edit(client, output, (system, pool), lambda entries: [*_without(entries, new), *new])


@policy.command
@with_permissions
@owner_options
@grantee_options
@remote
def revoke(
    client: Client,
    output: Output,
    permissions: tuple[str, ...],
    system: str | None,
    pool: str | None,
    **grantees: Any,
) -> None:
    """Revoke PERMISSIONs that were granted to these users, groups or everybody.

    A user keeps permissions that a group or everybody has.
    """
    revoked = _entries(permissions, **grantees)
    _edit(client, output, (system, pool), lambda entries: _without(entries, revoked))


@policy.command("set")
@click.argument("file", type=click.File("rb", lazy=False))
@owner_options
@remote
def set_policy(client: Client, output: Output, file: IO[bytes], system: str | None, pool: str | None) -> None:
    """Replace the policy with that in FILE, in the format of `show --json`; use - for standard input.

    Name the system or pool of the policy: --system FQDN or --pool NAME. The active pool of a system changes
    only if FILE has `active_pool`.
    """
    from domain.errors import Fault, Unreadable

    given = read_json(file)
    if not isinstance(given, dict) or not isinstance(given.get("entries"), list):
        raise Unreadable([Fault(file.name, 'must be an object with a list of "entries"')])
    fields = {name: given[name] for name in ("active_pool",) if name in given and system is not None}
    _edit(client, output, (system, pool), lambda _: given["entries"], **fields)


@policy.command
@click.argument("fqdn", shell_complete=completing.systems)
@click.argument("pool", required=False, shell_complete=completing.pools)
@remote
def use(client: Client, output: Output, fqdn: str, pool: str | None) -> None:
    """Apply the policy of POOL to the system FQDN, which must be in POOL; without POOL, its own policy.

    This does not affect the permission submit, which all pools of the system grant together.
    """
    _edit(client, output, (fqdn, None), lambda entries: entries, active_pool=pool)


def _policy_of(client: Client, system: str | None, pool: str | None) -> tuple[str, str, str]:
    """Return the path of a policy, and the kind and name of its system or pool. Raise UsageError."""
    if system is not None and pool is None:
        return client.path("systems", system, "access-policy"), "system", system
    if pool is not None and system is None:
        return client.path("pools", pool, "access-policy"), "pool", pool
    raise click.UsageError("Name the system or pool of the policy: --system FQDN or --pool NAME, not both.")


def _edit(
    client: Client,
    output: Output,
    system_or_pool: tuple[str | None, str | None],
    change: Callable[[list[Entry]], list[Entry]],
    **fields: Any,
) -> None:
    """Change the entries of a policy, and set `fields` of it; retry if it has changed meanwhile."""
    path, kind, name = _policy_of(client, *system_or_pool)
    field_names = ("entries", "active_pool") if kind == "system" else ("entries",)

    def changed(policy: dict[str, Any]) -> dict[str, Any]:
        unchanged = {field: policy[field] for field in field_names}
        return {**unchanged, "entries": change(policy["entries"]), **fields}

    answer = client.edit(path, changed)
    outcome = "changed" if answer.get("changed", True) else "unchanged"
    output.line(answer, f"access policy of {kind} {name} {outcome}")


def _entries(
    permissions: Iterable[str], users: Iterable[str], groups: Iterable[str], everybody: bool
) -> list[Entry]:
    grantees: list[Entry] = [*({"user": user} for user in users), *({"group": group} for group in groups)]
    if everybody:
        grantees.append({"everybody": True})
    if not grantees:
        raise click.UsageError("Name the users: --user, --group or --everybody.")
    return [{"permission": permission, **grantee} for permission in permissions for grantee in grantees]


def _without(entries: Iterable[Entry], removed: Iterable[Entry]) -> list[Entry]:
    keys = {(entry["permission"], _grantee(entry)) for entry in removed}
    return [entry for entry in entries if (entry["permission"], _grantee(entry)) not in keys]
