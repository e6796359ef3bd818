"""`labledger ldap`: people and groups as LDAP has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from cli.lazy import SuggestingGroup
from cli.remote import remote, wide
from cli.terminal.output import Output, note
from cli.terminal.tables import Column
from cli.terminal.wording import clock, plain, zone

if TYPE_CHECKING:
    from api.client import Client

PATH = "/ldap-sync"
COLUMNS = (
    Column("user", lambda row: plain(row["user"]), rank=0),
    Column("change", "change", rank=0),
    Column("group", lambda row: plain(row["group"]), rank=0),
)
LAST_COLUMNS = (
    Column("configured", lambda row: "yes" if row["configured"] else "no", rank=1),
    Column("running", lambda row: "yes" if row["running"] else "no", rank=1),
    Column(f"finished ({zone()})", lambda row: clock(row["finished_at"]), rank=0),
    Column(f"succeeded ({zone()})", lambda row: clock(row["succeeded_at"]), rank=0),
    # Before the first sync there are no counts.
    Column("registered", lambda row: row["changed"].get("registered"), "number", 1),
    Column("found", lambda row: row["changed"].get("found"), "number", 1),
    Column("left", lambda row: row["changed"].get("left"), "number", 0),
    Column("groups", lambda row: row["changed"].get("groups"), "number", 1),
    Column("fault", lambda row: plain(row["fault"] or ""), "text", 0),
)
# The lists of users in the answer, with what happens to these users.
CHANGES = (
    ("registered", "registered"),
    ("found", "found in LDAP"),
    ("left", "left LDAP: loses roles, tokens, password and groups"),
    ("kept", "left LDAP, but stays: no other admin can log in"),
    ("refused", "cannot be a user here now"),
)
ldap = SuggestingGroup("ldap", help="Sync people and groups with LDAP.")


@ldap.command
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option(
    "--force", is_flag=True, help="Sync even if many people lose rights, or a group is empty in LDAP."
)
@wide
@remote
def sync(client: Client, output: Output, dry_run: bool, force: bool) -> None:
    """Sync people and groups with LDAP now, and show what has changed.

    The service does so by itself every LABLEDGER_LDAP_SYNC_SECONDS. People who are no longer in LDAP lose
    their roles, tokens, password, groups, reservations and loans; their jobs stay. Users who never were in
    LDAP do not change.

    A sync that would take rights from a large share of the people is refused without --force. Groups that are
    empty in LDAP keep their members without it, too.
    """
    answer = client.post(PATH, dry_run=dry_run or None, force=force or None)
    if output.as_json:
        output.document(answer)
        return
    output.rows({"changes": list(_changes(answer))}, "changes", COLUMNS, empty="nothing changes")
    for group in answer["missing_groups"]:
        note(f"group {plain(group)} of the group table does not exist here")
    for group in answer["absent_groups"]:
        note(f"group {plain(group)} of the group table is not in LDAP, or empty there: its memberships stay")
    if dry_run:
        note("dry run: nothing was changed")


@ldap.command
@wide
@remote
def show(client: Client, output: Output) -> None:
    """Show when the last sync succeeded, what it changed, and why a later one failed."""
    answer = client.get(PATH)
    if output.as_json:
        output.document(answer)
    elif not answer["configured"] and answer["finished_at"] is None:
        click.echo("No LDAP is configured.")
    else:
        output.table(LAST_COLUMNS, [answer])


def _changes(answer: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for name, change in CHANGES:
        for user in answer[name]:
            yield {"user": user, "change": change, "group": ""}
    for each in answer["memberships"]:
        for user in each["added"]:
            yield {"user": user, "change": "joins", "group": each["group"]}
        for user in each["removed"]:
            yield {"user": user, "change": "leaves", "group": each["group"]}
