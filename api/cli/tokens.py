"""`labledger token`: access tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from api.cli.lazy import Group
from api.cli.output import Output
from api.cli.remote import remote

if TYPE_CHECKING:
    from api.client import Client


@click.group(cls=Group)
def token() -> None:
    """Make access tokens."""


@token.command
def first() -> None:
    """Make the first admin token of a new database (LABLEDGER_DATABASE_URL), shown this once."""
    from api import root
    from api.settings import Settings

    made = root.first_admin_token(Settings.read())
    if made is None:
        raise click.ClickException("there is an admin token already: `labledger token create` makes more")
    click.echo(made)


@token.command
@click.argument("user")
@click.option(
    "--role",
    default="submitter",
    show_default=True,
    help="admin, submitter, lab-controller, auditor or metrics.",
)
@click.option("--lab-controller", metavar="FQDN", help="With role lab-controller: the one it is for.")
@remote
def create(client: Client, output: Output, user: str, role: str, lab_controller: str | None) -> None:
    """Make a token for USER. It is shown this once; standard output is the token alone."""
    body = {"user": user, "role": role}
    answer = client.post("/tokens", body | ({"lab_controller": lab_controller} if lab_controller else {}))
    output.line(answer, answer["token"])
    if not output.as_json:
        click.echo(f"(token {answer['token_id']} of {user}, {role}; it is not shown again)", err=True)
