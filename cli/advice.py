"""What to do next, for each way to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from cli.terminal.wording import clock, counted, zone

if TYPE_CHECKING:
    from api.client.connection_file import Connection

# Set in the context once it is known which server is asked, and as whom.
CONNECTION = "labledger.connection"

# What nobody knows, by its first words -> the command that lists what there is.
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
}


def advice_on(error: Exception) -> str | None:
    """By the status of a problem, or by the class of an error."""
    advise = ADVICE.get(getattr(error, "status", type(error).__name__))
    return advise(error, _connection()) if advise else None


def _connection() -> Connection | None:
    context = click.get_current_context(silent=True)
    return context.meta.get(CONNECTION) if context else None


def _who_are_you(error: Any, connection: Connection | None) -> str:
    if "password" in error.title:
        return "An admin sets a new one by `labledger password USER`."
    if connection is None or connection.token is None:
        return (
            "No token was given: `labledger login USER`, or name one by --token or LABLEDGER_TOKEN, or the"
            " data folder of `labledger up` by --data or LABLEDGER_DATA."
        )
    return f"The token is that of {told_by(connection)}. `labledger login USER` gets another."


def _may_not(error: Any, connection: Connection | None) -> str:
    whoami = "`labledger whoami` tells who you are here"
    if connection is not None and connection.login_ends:
        return f"{whoami}; `labledger logout` ends {connection.token_from}."
    return f"{whoami}; `labledger login USER` or --token makes you another."


def told_by(connection: Connection) -> str:
    """By what the server knows who is asking."""
    until = f" until {clock(connection.login_ends)} ({zone()})" if connection.login_ends else ""
    return f"{connection.token_from}{until}"


def _not_there(error: Any, connection: Connection | None) -> str | None:
    for what in sorted(LISTS, key=len, reverse=True):
        if error.detail.replace("-", " ").startswith(f"{what} "):
            return f"`labledger {LISTS[what]}` lists what there is."
    return None


def _in_the_way(error: Any, connection: Connection | None) -> str:
    return "This request changed nothing."


def _moved(error: Any, connection: Connection | None) -> str:
    return "It has changed since it was read, and nothing was written: look at it again, and repeat."


def _busy(error: Any, connection: Connection | None) -> str:
    return f"{_tried(error)} A limit is reached: repeat it later, or at the time that the message names."


def _away(error: Any, connection: Connection | None) -> str:
    return (
        f"{_tried(error)} What was acknowledged is kept; `labledger overview` shows when it is ready again."
    )


def _behind(error: Any, connection: Connection | None) -> str:
    return f"{_tried(error)} The read models have not caught up yet; is a projector running?"


def _at_fault(error: Any, connection: Connection | None) -> str:
    return "This is a fault of the server; its log says what happened."


def _nobody_answers(error: Any, connection: Connection | None) -> str:
    return (
        f"{_tried(error)} Is Labledger running? Start one here with `script/up --demo`, or name another by"
        " --url or LABLEDGER_URL, or its data folder by --data or LABLEDGER_DATA."
    )


def _no_database(error: Any, connection: Connection | None) -> str:
    return "Is LABLEDGER_DATABASE_URL right, was `labledger migrate` run? See docs/operation.md."


def _no_room(error: Any, connection: Connection | None) -> str:
    return "What runs goes on where it was once there is room; what was asked here is to be asked again then."


def _tried(error: Any) -> str:
    seconds = f" in {error.waited_seconds:.0f} s" if error.waited_seconds >= 1 else ""
    return f"Asked {counted(error.tries, 'time')}{seconds}."


ADVICE: dict[int | str, Callable[[Any, Connection | None], str | None]] = {
    401: _who_are_you,
    403: _may_not,
    404: _not_there,
    409: _in_the_way,
    412: _moved,
    429: _busy,
    500: _at_fault,
    503: _away,
    504: _behind,
    "Unreachable": _nobody_answers,
    "DatabaseAway": _no_database,
    "DatabaseFull": _no_room,
}
