"""Advice on the next step, for each kind of failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from cli.terminal.wording import clock, counted, zone

if TYPE_CHECKING:
    from api.client.connection_file import Connection

# Key in the click context for the connection of the command.
CONNECTION = "labledger.connection"

# First words of the detail of a 404 -> the command that lists what exists.
LISTS = {
    "job": "jobs",
    "recipe set": "jobs",
    "recipe": "jobs",
    "system": "systems",
    "lab controller": "lab-controllers",
    "distro tree": "distro-trees",
    "pool": "pools",
    "group": "groups",
    "user": "users",
    "token": "token list",
    "job filter": "filters",
}


def advice_on(error: Exception) -> str | None:
    """Return the advice for the status of a problem or the class of an error; None without advice."""
    advice = ADVICE.get(getattr(error, "status", type(error).__name__))
    return advice(error, _connection()) if callable(advice) else advice


def _connection() -> Connection | None:
    context = click.get_current_context(silent=True)
    return context.meta.get(CONNECTION) if context else None


def _unauthenticated(error: Any, connection: Connection | None) -> str:
    if "password" in error.title:
        return "An admin can set a new password with `labledger password USER`."
    if connection is None or connection.token is None:
        return (
            "No token was given. Run `labledger login USER`, or set --token or LABLEDGER_TOKEN, or name the"
            " data folder of `labledger up` with --data or LABLEDGER_DATA."
        )
    return f"The token came from {token_origin(connection)}. Run `labledger login USER` to get another."


def _forbidden(error: Any, connection: Connection | None) -> str:
    whoami = "Run `labledger whoami` to see your user and role"
    if connection is not None and connection.login_ends:
        return f"{whoami}, or `labledger logout` to end {connection.token_from}."
    return f"{whoami}; use `labledger login USER` or --token to act as another user."


def token_origin(connection: Connection) -> str:
    until = f" until {clock(connection.login_ends)} ({zone()})" if connection.login_ends else ""
    return f"{connection.token_from}{until}"


def _not_found(error: Any, connection: Connection | None) -> str | None:
    # Longest first, because `recipe` is a prefix of `recipe set`.
    for kind in sorted(LISTS, key=len, reverse=True):
        if error.detail.lower().replace("-", " ").startswith(f"{kind} "):
            return f"Run `labledger {LISTS[kind]}` to list what exists."
    return None


def _rate_limited(error: Any, connection: Connection | None) -> str:
    return f"{_tried(error)} A limit is reached. Repeat the command later, or at the time in the message."


def _unavailable(error: Any, connection: Connection | None) -> str:
    return (
        f"{_tried(error)} Acknowledged changes are kept. Run `labledger overview` to see whether the"
        " service is ready."
    )


def _lagging(error: Any, connection: Connection | None) -> str:
    return f"{_tried(error)} The read models have not caught up yet. Is a projector running?"


def _unreachable(error: Any, connection: Connection | None) -> str:
    return (
        f"{_tried(error)} Is Labledger running? Start it here with `script/up --demo`, or name a server with"
        " --url or LABLEDGER_URL, or its data folder with --data or LABLEDGER_DATA."
    )


def _tried(error: Any) -> str:
    seconds = f" in {error.waited_seconds:.0f} s" if error.waited_seconds >= 1 else ""
    return f"Tried {counted(error.tries, 'time')}{seconds}."


ADVICE: dict[int | str, str | Callable[[Any, Connection | None], str | None]] = {
    401: _unauthenticated,
    403: _forbidden,
    404: _not_found,
    409: "This request changed nothing.",
    412: "It changed after it was read, so nothing was written. Read it again, then repeat the command.",
    429: _rate_limited,
    500: "This is an error of the server; its log has the cause.",
    503: _unavailable,
    504: _lagging,
    "Unreachable": _unreachable,
    "DatabaseAway": (
        "Is LABLEDGER_DATABASE_URL correct, and was `labledger migrate` run? See docs/operation.md."
    ),
    "NotRunning": ("The operator runs this command on the machine of the database, as its owner."),
    "DatabaseFull": "Labledger continues as soon as there is free space; repeat this command then.",
}
