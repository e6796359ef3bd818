"""`labledger token`: access tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.params import TimeParam, WordChoice, reason_option
from cli.lazy import SuggestingGroup
from cli.lists import completing
from cli.lists.directory import TOKENS
from cli.lists.listing import list_command
from cli.remote import remote
from cli.terminal.output import Output, note
from cli.terminal.wording import clock
from domain.directory.roles import LAB_CONTROLLER, ROLES, SUBMITTER

if TYPE_CHECKING:
    from api.client import Client


token = SuggestingGroup("token", help="Create, list and revoke access tokens.")
token.add_command(list_command("list", TOKENS, "List your tokens, or as an admin or auditor all tokens."))


@token.command
def first() -> None:
    """Create the first admin token of a new database (LABLEDGER_DATABASE_URL), and print it once."""
    from api.database_setup import first_admin_token
    from runtime.settings import Settings

    new_token = first_admin_token(Settings.read())
    if new_token is None:
        raise click.ClickException(
            "an admin token exists already: use `labledger token create` to create more"
        )
    click.echo(new_token)


@token.command
@click.argument("user", shell_complete=completing.users)
@click.option(
    "--role",
    type=WordChoice(ROLES),
    default=SUBMITTER,
    show_default=True,
    help="Role of the token. An admin can name a new role of USER, and so adds it to the roles of USER.",
)
@click.option(
    "--lab-controller",
    "--lab",
    metavar="FQDN",
    shell_complete=completing.lab_controllers,
    help=f"With the role {LAB_CONTROLLER}: the lab controller that uses the token.",
)
@click.option(
    "--expires-in",
    "expires_at",
    type=TimeParam(),
    metavar="TIME",
    help="Lifetime such as 30d, or a time [default: never expires].",
)
@remote
def create(
    client: Client, output: Output, user: str, role: str, lab_controller: str | None, expires_at: str | None
) -> None:
    """Create a token for USER, and print it. The token is shown only once.

    Users who are not admins can create tokens only for themselves, and none with the roles admin and
    lab-controller.
    """
    _require_fitting(role, lab_controller)
    body = {"user": user, "role": role, "lab_controller": lab_controller, "expires_at": expires_at}
    answer = client.post("/tokens", {name: value for name, value in body.items() if value is not None})
    if answer["token"] is None:
        # A retry: the first request created the token, and its answer was lost.
        lost = answer["token_id"]
        raise click.ClickException(
            f"the answer with the token was lost: run `labledger token revoke {lost}`, and create another"
        )
    output.line(answer, answer["token"])
    if not output.as_json:
        ends = f"until {clock(expires_at)}, " if expires_at else ""
        note(f"(token {answer['token_id']} of {user}, {role}, {ends}not shown again)")


def _require_fitting(role: str, lab_controller: str | None) -> None:
    if role == LAB_CONTROLLER and lab_controller is None:
        raise click.UsageError(
            f"A token of the role {LAB_CONTROLLER} is for one lab controller: name it with --lab-controller"
            " (run `labledger lab-controllers` for a list)."
        )
    if role != LAB_CONTROLLER and lab_controller is not None:
        raise click.UsageError(f"--lab-controller is for tokens of the role {LAB_CONTROLLER}, not {role}.")


@token.command
@click.argument("token_id", metavar="TOKEN", shell_complete=completing.tokens)
@reason_option
@remote
def revoke(client: Client, output: Output, token_id: str, reason: str | None) -> None:
    """Revoke the token with the id TOKEN (see `token list`)."""
    answer = client.delete(client.path("tokens", token_id), reason=reason) or {}
    done = "revoked" if answer.get("revoked", True) else "was already revoked"
    output.line(answer, f"token {token_id} {done}")
