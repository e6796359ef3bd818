"""`labledger policy`: the access policies of systems and pools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of
from cli.arguments.params import WordChoice
from cli.arguments.then import absence_explained, note_moment
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
Command = Callable[..., None]


def _who(entry: Row) -> str:
    named = ((kind, entry.get(kind)) for kind in ("user", "group"))
    return next((f"{kind} {name}" for kind, name in named if name), "everybody")


COLUMNS = (
    Column("permission", "permission", rank=0),
    Column("for", _who, rank=0),
    Column("maximum effective priority", "maximum_effective_priority"),
)

permissions_argument = click.argument(
    "permissions", metavar="PERMISSION…", nargs=-1, required=True, type=WordChoice(PERMISSIONS)
)
PERMISSIONS_HELP = """

    A PERMISSION is one of view (see the system), reserve (reserve it for oneself), submit (run jobs on it),
    loan_self and loan_any (borrow it, lend it to others), control_system (return it for others), edit_system
    (change and drain it) and edit_policy (change this policy).
"""


def with_permissions(command: Command) -> Command:
    """Add the argument PERMISSION and its help to a command."""
    command.__doc__ = f"{command.__doc__}{PERMISSIONS_HELP}"
    return permissions_argument(command)


def owner_options(command: Command) -> Command:
    """Add --system and --pool, which name the owner of the policy."""
    system = click.option(
        "--system", metavar="FQDN", shell_complete=completing.systems, help="Policy of this system."
    )
    pool = click.option(
        "--pool", metavar="NAME", shell_complete=completing.pools, help="Policy of this pool."
    )
    return system(pool(command))


def grantee_options(command: Command) -> Command:
    """Add --user, --group and --everybody, which name the grantees of permissions."""
    user = click.option(
        "--user",
        "users",
        metavar="USER",
        multiple=True,
        shell_complete=completing.users,
        help="User; repeatable.",
    )
    group = click.option(
        "--group",
        "groups",
        metavar="GROUP",
        multiple=True,
        shell_complete=completing.groups,
        help="All members of a group; repeatable.",
    )
    return user(group(click.option("--everybody", is_flag=True, help="All users.")(command)))


@click.group(cls=SuggestingGroup)
def policy() -> None:
    """Show an access policy of a system or a pool, and grant and revoke permissions."""


@policy.command
@owner_options
@as_of
@remote
def show(client: Client, output: Output, system: str | None, pool: str | None, as_of: str | None) -> None:
    """Show an access policy: an entry for each permission and its user or group."""
    path, kind, name = _place(client, system, pool)
    with absence_explained(client, as_of, kind, name):
        document = client.get(path, as_of=as_of)
    note_moment(client, output, as_of, document)
    output.rows(document, "entries", COLUMNS, empty="The policy has no entries: it grants no permissions.")
    if system is None or output.as_json:
        return
    if document.get("active_pool"):
        note(f"except for {SUBMIT}, the policy of pool {document['active_pool']} applies instead of this one")
    if pools := _pools_with_submit(client, system, as_of):
        of = f"pool {pools[0]}" if len(pools) == 1 else f"pools {', '.join(pools)} together"
        note(
            f"{SUBMIT} is granted by {of}, not by this policy: run `labledger policy show --pool {pools[0]}`"
        )


def _pools_with_submit(client: Client, system: str, as_of: str | None) -> list[str]:
    """Return the pools of a system whose policies grant submit; these replace its own entries for it."""
    pools = client.get(client.path("systems", system), as_of=as_of)["pools"]
    return [name for name in pools if _grants_submit(client, name, as_of)]


def _grants_submit(client: Client, pool: str, as_of: str | None) -> bool:
    policy = client.get(client.path("pools", pool, "access-policy"), as_of=as_of)
    return any(entry["permission"] == SUBMIT for entry in policy["entries"])


@policy.command
@with_permissions
@owner_options
@grantee_options
@click.option(
    "--maximum",
    type=WordChoice(tuple(Priority.__members__)),
    help=f"With {SUBMIT}: the maximum effective priority [default: Urgent].",
)
@remote
def grant(
    client: Client,
    output: Output,
    permissions: tuple[str, ...],
    system: str | None,
    pool: str | None,
    maximum: str | None,
    **whom: Any,
) -> None:
    """Grant PERMISSIONs. Granting submit again changes its maximum effective priority."""
    new = _entries(permissions, **whom)
    if maximum is not None and SUBMIT not in permissions:
        raise click.UsageError(f"--maximum is for the permission {SUBMIT}.")
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
    **whom: Any,
) -> None:
    """Revoke PERMISSIONs from exactly these users, groups or everybody."""
    gone = _entries(permissions, **whom)
    _edit(client, output, (system, pool), lambda entries: _without(entries, gone))


@policy.command("set")
@click.argument("file", type=click.File("rb", lazy=False))
@owner_options
@remote
def set_policy(client: Client, output: Output, file: IO[bytes], system: str | None, pool: str | None) -> None:
    """Replace the policy by FILE in the format of `show --json`; use - for standard input.

    The active pool of a system changes only if the file has `active_pool`.
    """
    from domain.errors import Fault, Unreadable

    try:
        given = json.load(file)
    except ValueError as error:
        raise Unreadable([Fault(file.name, f"is not JSON: {error}")]) from None
    if not isinstance(given, dict) or not isinstance(given.get("entries"), list):
        raise Unreadable([Fault(file.name, 'must be an object with a list of "entries"')])
    said = {name: given[name] for name in ("active_pool",) if name in given and system is not None}
    _edit(client, output, (system, pool), lambda _: given["entries"], **said)


@policy.command
@click.argument("fqdn", shell_complete=completing.systems)
@click.argument("pool", required=False, shell_complete=completing.pools)
@remote
def use(client: Client, output: Output, fqdn: str, pool: str | None) -> None:
    """Apply the policy of POOL to FQDN, which must be in POOL. Without POOL, apply its own policy.

    The permission submit always depends on all pools of the system.
    """
    _edit(client, output, (fqdn, None), lambda entries: entries, active_pool=pool)


def _place(client: Client, system: str | None, pool: str | None) -> tuple[str, str, str]:
    """Return the path of the policy, and the kind and name of its owner."""
    if system is not None and pool is None:
        return client.path("systems", system, "access-policy"), "system", system
    if pool is not None and system is None:
        return client.path("pools", pool, "access-policy"), "pool", pool
    raise click.UsageError("Name the owner of the policy: either --system FQDN or --pool NAME.")


def _edit(
    client: Client,
    output: Output,
    place: tuple[str | None, str | None],
    change: Callable[[list[Entry]], list[Entry]],
    **beside: Any,
) -> None:
    path, kind, name = _place(client, *place)
    of_it = ("entries", "active_pool") if kind == "system" else ("entries",)

    def changed(found: dict[str, Any]) -> dict[str, Any]:
        kept = {field: found[field] for field in of_it}
        return {**kept, "entries": change(found["entries"]), **beside}

    answer = client.edit(path, changed)
    done = "changed" if answer.get("changed", True) else "unchanged"
    output.line(answer, f"access policy of {kind} {name} {done}")


def _entries(
    permissions: Iterable[str], users: Iterable[str], groups: Iterable[str], everybody: bool
) -> list[Entry]:
    """Return an entry for each permission and each user, group or everybody."""
    whom: list[Entry] = [*({"user": user} for user in users), *({"group": group} for group in groups)]
    if everybody:
        whom.append({"everybody": True})
    if not whom:
        raise click.UsageError("Name the users: --user, --group or --everybody.")
    return [{"permission": permission, **one} for permission in permissions for one in whom]


def _without(entries: Iterable[Entry], gone: Iterable[Entry]) -> list[Entry]:
    taken = {(entry["permission"], _who(entry)) for entry in gone}
    return [entry for entry in entries if (entry["permission"], _who(entry)) not in taken]
