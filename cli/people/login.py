"""`labledger login`, `logout`, `whoami`, `password`: who somebody is to the server."""

from __future__ import annotations

import getpass
import sys
from typing import TYPE_CHECKING

import click

from cli.advice import CONNECTION, told_by
from cli.arguments.params import OneOf
from cli.remote import connection_told, remote
from cli.terminal.output import Output, note
from cli.terminal.wording import clock, zone
from domain.directory.roles import ROLES

if TYPE_CHECKING:
    from api.client import Client

stdin_option = click.option(
    "--stdin",
    "from_stdin",
    is_flag=True,
    help="Read from standard input what else is asked for, a line each.",
)


@click.command
@click.argument("user", required=False)
@click.option("--role", type=OneOf(ROLES), help="One of yours [the first of them].")
@stdin_option
@remote
def login(client: Client, output: Output, user: str | None, role: str | None, from_stdin: bool) -> None:
    """Log in as USER [your name here]. The token is kept for this server, until it expires or you log out."""
    from api.client.login_file import Login, Logins

    name = user or getpass.getuser()
    password = _ask(f"Password of {name} at {client.url}", from_stdin)
    # A token that has expired must not stand in the way of getting another.
    with client.with_token(None) as nobody:
        asked = {"user": name, "password": password} | ({"role": role} if role else {})
        answer = nobody.post("/login", asked)
    ends = answer["expires_at"]
    file = Logins.load().with_(Login(client.url, name, answer["token"], answer["token_id"], ends)).save()
    told = {field: answer[field] for field in ("user", "role", "token_id", "expires_at")}
    until = f"until {clock(ends)} ({zone()})"
    output.line(
        {**told, "url": client.url}, f"you are {name}, role {answer['role']}, at {client.url} {until}"
    )
    if not output.as_json:
        note(f"kept in {file}")
        _warn_of_what_wins(name, answer["token"])


def _warn_of_what_wins(name: str, token: str) -> None:
    """Who has logged in and is still somebody else would look for the reason for long."""
    params = click.get_current_context().params
    wins = connection_told(params["url"], params["token"], params["data"])
    if wins.token != token:
        note(f"but {wins.token_from} is named here, and wins over a login: without it you are {name}")


@click.command
@remote
def logout(client: Client, output: Output) -> None:
    """Forget the login at this server, and revoke its token."""
    from api.client import Problem
    from api.client.login_file import Logins

    logins = Logins.load()
    found = logins.at(client.url)
    if found is None:
        raise click.ClickException(f"there is no login at {client.url}")
    try:
        with client.with_token(found.token) as owner:
            owner.delete(owner.path("tokens", found.token_id))
    except Problem as problem:
        # Whatever became of it, it is to be forgotten here.
        note(f"its token was not revoked: {problem}")
    logins.without(client.url).save()
    output.line({"url": client.url, "user": found.user}, f"{found.user} is logged out at {client.url}")


@click.command
@remote
def whoami(client: Client, output: Output) -> None:
    """Show who you are to the server, and by what."""
    answer = client.get("/whoami")
    lab = f" of {answer['lab_controller']}" if answer.get("lab_controller") else ""
    connection = click.get_current_context().meta[CONNECTION]
    output.line(
        answer, f"{answer['user']}, role {answer['role']}{lab}, at {client.url} by {told_by(connection)}"
    )


@click.command
@click.argument("user", required=False)
@stdin_option
@remote
def password(client: Client, output: Output, user: str | None, from_stdin: bool) -> None:
    """Set your own password, or as an admin that of USER."""
    me = client.get("/whoami")["user"]
    name = user or me
    current = _ask("Your current password (empty: you have none)", from_stdin) if name == me else ""
    new = _ask(f"New password of {name}", from_stdin, twice=True)
    body = {"password": new} | ({"current_password": current} if current else {})
    answer = client.put(client.path("users", name, "password"), body)
    output.line(answer or {}, f"the password of {name} is set")


def _ask(what: str, from_stdin: bool, *, twice: bool = False) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    if not sys.stdin.isatty():
        raise click.UsageError("There is no terminal to ask on: give --stdin what it asks for, a line each.")
    given: str = click.prompt(what, hide_input=True, default="", show_default=False, err=True)
    if (
        twice
        and click.prompt("Once more", hide_input=True, default="", show_default=False, err=True) != given
    ):
        raise click.ClickException("the two differ; nothing was changed")
    return given
