"""`labledger login`, `logout`, `whoami`, `password`: the user of the command line."""

from __future__ import annotations

import getpass
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from cli.advice import CONNECTION, token_origin
from cli.arguments.params import Decorator, WordChoice
from cli.people.device_login import device_login
from cli.remote import connection_from, remote
from cli.terminal.output import Output, note
from cli.terminal.wording import clock, zone
from domain.directory.roles import ROLES

if TYPE_CHECKING:
    from api.client import Client


def stdin_option(help: str) -> Decorator:
    return click.option("--stdin", "from_stdin", is_flag=True, help=help)


@click.command
@click.argument("user", required=False)
@click.option(
    "--role",
    type=WordChoice(ROLES),
    help="Role of the login, one of yours [default: the first; with --sso: submitter if you have it]. With"
    " --sso it is not admin, unless the server allows that.",
)
@click.option("--sso", is_flag=True, help="Sign in with the identity provider of the server, in a browser.")
@stdin_option("Read the password from the first line of standard input.")
@remote
def login(
    client: Client, output: Output, user: str | None, role: str | None, sso: bool, from_stdin: bool
) -> None:
    """Log in as USER [default: your local user name], and save the token for this server.

    With --sso, the command prints an address and a code. Open the address in any browser, and enter the code
    there. Commands use the saved token until it expires or you log out.
    """
    if sso and (user or from_stdin):
        raise click.UsageError("--sso takes neither USER nor --stdin: the identity provider names the user.")
    # The saved token may have expired, so requests are sent without a token.
    with client.with_token(None) as anonymous:
        answer = device_login(anonymous, role) if sso else _password_login(anonymous, user, role, from_stdin)
    _save_and_show(client, output, answer)


def _password_login(client: Client, user: str | None, role: str | None, from_stdin: bool) -> dict[str, Any]:
    name = user or getpass.getuser()
    password = ask_password(f"Password of {name} at {client.url}", from_stdin)
    body = {"user": name, "password": password} | ({"role": role} if role else {})
    answer: dict[str, Any] = client.post("/login", body)
    return answer


def _save_and_show(client: Client, output: Output, answer: dict[str, Any]) -> None:
    from api.client.login_file import Logins, SavedLogin

    name, ends = answer["user"], answer["expires_at"]
    file = Logins.load().with_(SavedLogin(client.url, name, answer["token"], answer["token_id"], ends)).save()
    shown = {field: answer[field] for field in ("user", "role", "token_id", "expires_at")}
    until = f"until {clock(ends)} ({zone()})"
    output.line(
        {**shown, "url": client.url}, f"logged in as {name}, role {answer['role']}, at {client.url} {until}"
    )
    if not output.as_json:
        note(f"saved in {file}")
        _warn_if_overridden(name, answer["token"])


def _warn_if_overridden(name: str, token: str) -> None:
    params = click.get_current_context().params
    used = connection_from(params["url"], params["token"], params["data"])
    if used.token != token:
        note(f"warning: {used.token_from} overrides this login; unset it to act as {name}")


@click.command
@remote
def logout(client: Client, output: Output) -> None:
    """Delete the saved login at this server, and revoke its token."""
    from api.client import ServerProblem
    from api.client.login_file import Logins

    logins = Logins.load()
    login = logins.at(client.url)
    if login is None:
        raise click.ClickException(f"not logged in at {client.url}")
    try:
        with client.with_token(login.token) as owner:
            owner.delete(owner.path("tokens", login.token_id))
    except ServerProblem as problem:
        # The saved login is deleted anyway.
        note(f"warning: the token was not revoked: {problem}")
    logins.without(client.url).save()
    output.line({"url": client.url, "user": login.user}, f"{login.user} is logged out at {client.url}")


@click.command
@remote
def whoami(client: Client, output: Output) -> None:
    """Show your user and role at the server, and the origin of your token."""
    answer = client.get("/whoami")
    lab = f" of {answer['lab_controller']}" if answer.get("lab_controller") else ""
    connection = click.get_current_context().meta[CONNECTION]
    output.line(
        answer, f"{answer['user']}, role {answer['role']}{lab}, at {client.url} by {token_origin(connection)}"
    )


@click.command
@click.argument("user", required=False)
@stdin_option(
    "Read the passwords from standard input: your current password on the first line (empty if you have"
    " none), the new one on the second. With another USER, the first line is the new password."
)
@remote
def password(client: Client, output: Output, user: str | None, from_stdin: bool) -> None:
    """Set your password, or as an admin the password of USER."""
    me = client.get("/whoami")["user"]
    name = user or me
    current = ask_password("Your current password (empty if you have none)", from_stdin) if name == me else ""
    new = ask_password(f"New password of {name}", from_stdin, twice=True)
    body = {"password": new} | ({"current_password": current} if current else {})
    answer = client.put(client.path("users", name, "password"), body)
    output.line(answer or {}, f"the password of {name} is set")


def ask_password(prompt: str, from_stdin: bool, *, twice: bool = False) -> str:
    """Return a password: the next line of standard input with `from_stdin`, otherwise from a prompt."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    if not sys.stdin.isatty():
        raise click.UsageError(
            "There is no terminal to prompt on: use --stdin, and pass each password on a line of its own."
        )
    ask = partial(click.prompt, hide_input=True, default="", show_default=False, err=True)
    given: str = ask(prompt)
    if twice and ask("Repeat the password") != given:
        raise click.ClickException("the two passwords differ; nothing was changed")
    return given
