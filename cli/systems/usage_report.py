"""`labledger usage --report`: unused systems, who keeps systems longest, and what waits longest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import note_moment
from cli.terminal.output import Output
from cli.terminal.tables import Column
from cli.terminal.wording import clock, duration, minute, zone

if TYPE_CHECKING:
    from api.client import Client

TABLES = {
    "unused_systems": (
        "Systems that nobody used",
        (
            Column("system", "fqdn", rank=0),
            Column("condition", "condition", "state", 1),
            Column(f"last used ({zone()})", lambda row: clock(row["last_used_at"]) or "never", rank=0),
            Column("lab controller", "lab_controller", rank=2),
            Column("owner", "owner", rank=1),
        ),
    ),
    "users": (
        "Users who had systems longest",
        (
            Column("user", "user", rank=0),
            Column("time of systems", lambda row: duration(row["seconds"]), "number", 0),
        ),
    ),
    "waiting_requirements": (
        "Requirements that wait longest",
        (
            Column("wait", lambda row: duration(row["wait_seconds"]), "number", 0),
            Column("systems wanted", "recipes", "number", 0),
            Column("oldest recipe", "recipe_id", "number", 1),
            Column("requirement", "requirement", "text", 0),
        ),
    ),
}


def show_report(client: Client, output: Output, since: str | None, as_of: str | None) -> None:
    document = client.get("/usage-report", since=since, as_of=as_of)
    note_moment(client, output, as_of, document)
    if output.as_json:
        output.document(document)
        return
    click.echo(f"from {minute(document['since'])} until {minute(document['until'])} ({zone()})")
    for name, (title, columns) in TABLES.items():
        click.echo()
        if document[name]:
            output.table(columns, document[name], title=title)
        else:
            click.echo(f"{title}: none.")
