"""`labledger notifications`: the choice of notifications, and the messages of a user."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.exclusion import require_exclusive
from cli.arguments.params import WordChoice, limit_option
from cli.arguments.secret_file import secret_file_option
from cli.lazy import SuggestingGroup
from cli.lists import completing
from cli.lists.listing import FIRST_ROWS, Listing
from cli.remote import remote
from cli.terminal.output import Output
from cli.terminal.tables import Column
from cli.terminal.wording import clock, zone
from domain.notifications.kinds import KINDS
from domain.notifications.retries import GIVEN_UP

if TYPE_CHECKING:
    from api.client import Client

SECRET_BYTES = 24
USER = click.argument("user", required=False, shell_complete=completing.users)
_EPILOG = "\b\nKinds:\n" + "\n".join(f"  {kind:<14} {when}" for kind, when in KINDS.items())

notifications = SuggestingGroup(
    "notifications", help="Choose the notifications that you get by mail and by webhook."
)


def _name(client: Client, user: str | None) -> str:
    return user or client.get("/whoami")["user"]


@notifications.command(epilog=_EPILOG)
@USER
@remote
def show(client: Client, output: Output, user: str | None) -> None:
    """Show your choice, or as an admin that of USER."""
    answer = client.get(client.path("users", _name(client, user), "notifications"))
    output.line(answer, _text(answer))


@notifications.command("set", epilog=_EPILOG)
@USER
@click.option(
    "--mail",
    type=WordChoice(tuple(KINDS)),
    multiple=True,
    help="Kind to get by mail; replaces the present kinds. Repeat the option for several.",
)
@click.option("--no-mail", is_flag=True, help="Get no mail.")
@click.option("--default-mail", is_flag=True, help="Get the kinds by mail that the service sends by default.")
@click.option("--webhook", metavar="URL", help="URL to which notifications are posted.")
@click.option(
    "--webhook-kind",
    "webhook_kinds",
    type=WordChoice(tuple(KINDS)),
    multiple=True,
    help="Kind to post; replaces the present kinds. Repeat the option for several.  [default: all]",
)
@click.option("--no-webhook", is_flag=True, help="Post nothing, and delete the URL and secret.")
@secret_file_option("Without it, a secret that signs the posts is generated for a new URL, and printed once.")
@remote
def choose(
    client: Client,
    output: Output,
    user: str | None,
    mail: tuple[str, ...],
    no_mail: bool,
    default_mail: bool,
    webhook: str | None,
    webhook_kinds: tuple[str, ...],
    no_webhook: bool,
    secret: str | None,
) -> None:
    """Change your choice, or as an admin that of USER. What no option names stays."""
    require_exclusive({"--mail": mail, "--no-mail": no_mail, "--default-mail": default_mail})
    of_webhook = {"--webhook": webhook, "--webhook-kind": webhook_kinds, "--secret-file": secret}
    for option, value in of_webhook.items():
        require_exclusive({"--no-webhook": no_webhook, option: value})
    path = client.path("users", _name(client, user), "notifications")
    present = client.get(path)
    hook, generated = _webhook(present["webhook"], webhook, webhook_kinds, secret)
    chosen = None if default_mail else [] if no_mail else list(mail) or present["mail"]
    answer = client.put(path, {"mail": chosen, "webhook": None if no_webhook else hook})
    shown = {**answer, **({} if generated is None else {"secret": generated})}
    more = "" if generated is None else f"\nsecret (shown only once): {generated}"
    output.line(shown, _text(answer) + more)


def _webhook(
    present: dict[str, Any] | None, url: str | None, kinds: tuple[str, ...], given: str | None
) -> tuple[dict[str, Any] | None, str | None]:
    """Return the webhook to put, and the secret that was generated for it, if any."""
    wanted_url = url or (present or {}).get("url")
    if wanted_url is None:
        if kinds or given is not None:
            raise click.UsageError("There is no webhook yet: give --webhook URL.")
        return None, None
    generated = secrets.token_urlsafe(SECRET_BYTES) if _is_new(present, url) and given is None else None
    secret = generated if given is None else given
    wanted = list(kinds) or (present or {}).get("kinds") or list(KINDS)
    return {"url": wanted_url, "kinds": wanted} | ({} if secret is None else {"secret": secret}), generated


def _is_new(present: dict[str, Any] | None, url: str | None) -> bool:
    return url is not None and (present is None or present["url"] != url)


@notifications.command("list")
@USER
@click.option("--all", "of_all", is_flag=True, help="As an admin, the messages to all users.")
@click.option("--failed", is_flag=True, help="Only messages that were given up.")
@limit_option(FIRST_ROWS, "Maximum number of messages to show.")
@remote
def list_messages(
    client: Client, output: Output, user: str | None, of_all: bool, failed: bool, limit: int
) -> None:
    """List the messages to you, or as an admin to USER, newest first, for 30 days."""
    require_exclusive({"USER": user, "--all": of_all})
    path = (
        client.path("notification-messages")
        if of_all
        else client.path("users", _name(client, user), "notifications", "messages")
    )
    columns = (COLUMNS[0], Column("user", "user", rank=0), *COLUMNS[1:]) if of_all else COLUMNS
    messages = Listing(path, "messages", columns, "There are no messages.")
    messages.show(client, output, limit, None, state=GIVEN_UP if failed else None)


COLUMNS = (
    Column(f"created ({zone()})", lambda row: clock(row["created_at"]), rank=2),
    Column("title", "title", rank=0),
    Column("sent to", lambda row: row["address"] or row["channel"], rank=1),
    Column("state", "state", rank=0),
    Column("attempts", "attempts", "number", 3),
    Column("last error", lambda row: row["last_error"] or "", rank=1),
)


def _text(answer: dict[str, Any]) -> str:
    mail = answer["default_mail"] if answer["mail"] is None else answer["mail"]
    by_default = " (the defaults of the service)" if answer["mail"] is None else ""
    address = answer["email"] or "none is registered, so no mail is sent"
    lines = [f"mail: {', '.join(mail) or 'nothing'}{by_default}", f"mail address: {address}"]
    webhook = answer["webhook"]
    if webhook is None:
        return "\n".join([*lines, "webhook: none"])
    kinds = ", ".join(webhook["kinds"]) or "nothing"
    return "\n".join([*lines, f"webhook: {kinds}", f"webhook URL: {webhook['url']}"])
