"""`labledger policy`: who may do what with a system, or with the systems of a pool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of
from cli.arguments.params import OneOf
from cli.arguments.then import tell_moment, there_then
from cli.lazy import Group
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
    "permissions", metavar="PERMISSION…", nargs=-1, required=True, type=OneOf(PERMISSIONS)
)
# What each opens, in a line or two for --help.
WHAT_THERE_IS = """

    A PERMISSION is one of view (see the system), reserve (have it as a person), submit (jobs run there),
    loan_self and loan_any (borrow it, lend it to others), control_system (return it for others), edit_system
    (change it, drain it) and edit_policy (say all this).
"""


def with_permissions(command: Command) -> Command:
    """The argument, and what it may be."""
    command.__doc__ = f"{command.__doc__}{WHAT_THERE_IS}"
    return permissions_argument(command)


def whose(command: Command) -> Command:
    """Of a system or of a pool: the path of the policy, and how it is called."""
    system = click.option(
        "--system", metavar="FQDN", shell_complete=completing.systems, help="That of a system."
    )
    pool = click.option("--pool", metavar="NAME", shell_complete=completing.pools, help="That of a pool.")
    return system(pool(command))


def to_whom(command: Command) -> Command:
    user = click.option(
        "--user", "users", metavar="USER", multiple=True, shell_complete=completing.users, help="Repeatable."
    )
    group = click.option(
        "--group",
        "groups",
        metavar="GROUP",
        multiple=True,
        shell_complete=completing.groups,
        help="Its members; repeatable.",
    )
    return user(group(click.option("--everybody", is_flag=True, help="Whoever it is.")(command)))


@click.group(cls=Group)
def policy() -> None:
    """Show who may do what with a system or the systems of a pool, grant and revoke it."""


@policy.command
@whose
@as_of
@remote
def show(client: Client, output: Output, system: str | None, pool: str | None, as_of: str | None) -> None:
    """Show an access policy: an entry for each permission and whom it is for."""
    path, kind, name = _place(client, system, pool)
    with there_then(client, as_of, kind, name):
        document = client.get(path, as_of=as_of)
    tell_moment(client, output, as_of, document)
    output.rows(document, "entries", COLUMNS, empty="It has no entries: it grants nothing to anybody.")
    if system is None or output.as_json:
        return
    if document.get("active_pool"):
        note(f"but for {SUBMIT} the policy of pool {document['active_pool']} counts in the place of this one")
    if pools := _pools_that_say(client, system, as_of):
        of = f"pool {pools[0]}" if len(pools) == 1 else f"pools {', '.join(pools)} together"
        note(f"{SUBMIT} is granted by {of}, whatever stands here: `labledger policy show --pool {pools[0]}`")


def _pools_that_say(client: Client, system: str, as_of: str | None) -> list[str]:
    """The pools of a system that say who may submit there: then its own policy does not."""
    pools = client.get(client.path("systems", system), as_of=as_of)["pools"]
    return [name for name in pools if _says(client, name, as_of)]


def _says(client: Client, pool: str, as_of: str | None) -> bool:
    policy = client.get(client.path("pools", pool, "access-policy"), as_of=as_of)
    return any(entry["permission"] == SUBMIT for entry in policy["entries"])


@policy.command
@with_permissions
@whose
@to_whom
@click.option(
    "--maximum",
    type=OneOf(tuple(Priority.__members__)),
    help=f"With {SUBMIT}: the maximum effective priority [Urgent].",
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
    """Grant PERMISSIONs. Granting submit to the same again changes its maximum effective priority."""
    new = _entries(permissions, **whom)
    if maximum is not None and SUBMIT not in permissions:
        raise click.UsageError(f"--maximum is for the permission {SUBMIT}.")
    for entry in new if maximum is not None else ():
        if entry["permission"] == SUBMIT:
            entry["maximum_effective_priority"] = maximum
    _edit(client, output, (system, pool), lambda entries: [*_without(entries, new), *new])


@policy.command
@with_permissions
@whose
@to_whom
@remote
def revoke(
    client: Client,
    output: Output,
    permissions: tuple[str, ...],
    system: str | None,
    pool: str | None,
    **whom: Any,
) -> None:
    """Revoke PERMISSIONs that were granted to just these."""
    gone = _entries(permissions, **whom)
    _edit(client, output, (system, pool), lambda entries: _without(entries, gone))


@policy.command("set")
@click.argument("file", type=click.File("rb", lazy=False))
@whose
@remote
def set_policy(client: Client, output: Output, file: IO[bytes], system: str | None, pool: str | None) -> None:
    """Put the policy in FILE (`-`: standard input) in the place of what there is, as `show --json` gives it.

    Of a system the policy of a pool counts as before, unless the file says which.
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
    """Let the policy of POOL count for FQDN, which is in it; without POOL its own.

    Whose jobs it takes is up to all the pools it is in, whichever policy counts.
    """
    _edit(client, output, (fqdn, None), lambda entries: entries, active_pool=pool)


def _place(client: Client, system: str | None, pool: str | None) -> tuple[str, str, str]:
    """The path of the policy, and the kind and name of what has it."""
    if system is not None and pool is None:
        return client.path("systems", system, "access-policy"), "system", system
    if pool is not None and system is None:
        return client.path("pools", pool, "access-policy"), "pool", pool
    raise click.UsageError("Say whose policy: one of --system FQDN and --pool NAME.")


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
    done = "changed" if answer.get("changed", True) else "is so already"
    output.line(answer, f"access policy of {kind} {name} {done}")


def _entries(
    permissions: Iterable[str], users: Iterable[str], groups: Iterable[str], everybody: bool
) -> list[Entry]:
    """One for each permission and each of whom it is for."""
    whom: list[Entry] = [*({"user": user} for user in users), *({"group": group} for group in groups)]
    if everybody:
        whom.append({"everybody": True})
    if not whom:
        raise click.UsageError("Say to whom: --user, --group or --everybody.")
    return [{"permission": permission, **one} for permission in permissions for one in whom]


def _without(entries: Iterable[Entry], gone: Iterable[Entry]) -> list[Entry]:
    taken = {(entry["permission"], _who(entry)) for entry in gone}
    return [entry for entry in entries if (entry["permission"], _who(entry)) not in taken]
