"""Answers about the past: that they are about the moment that was asked about, and which that is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import is_position
from cli.terminal.output import Output, note
from cli.terminal.wording import clock, zone

if TYPE_CHECKING:
    from api.client import Client, Problem
    from cli.terminal.tables import Row

# Nobody's clock is that of the server.
CLOCKS_DIFFER = timedelta(minutes=1)
NOT_FOUND = 404


def tell_moment(client: Client, output: Output, asked: str | None, answer: Row) -> None:
    """Say as of when an answer is. One that is not about what was asked is a refusal."""
    if asked is None:
        return
    _require_past(client, asked, answer)
    if not output.as_json:
        note(f"as of {_at(answer['position'], answer.get('as_of'))}")


@contextmanager
def there_then(client: Client, asked: str | None, what: str, name: object) -> Iterator[None]:
    """What was not there then is not what there never was."""
    from api.client import Problem

    try:
        yield
    except Problem as problem:
        if asked is None or problem.status != NOT_FOUND:
            raise
        raise _not_then(client, asked, what, name) or problem from None


def _not_then(client: Client, asked: str, what: str, name: object) -> Problem | None:
    """By its first event; None where nothing is known of it, or may be."""
    from api.client import Problem

    try:
        events = client.get("/events", subject=f"{what.replace(' ', '-')}/{name}", limit=1)["events"]
    except Problem:
        return None
    if not events:
        return None
    then = f"position {asked}" if is_position(asked) else f"{clock(asked)} ({zone()})"
    came = f"it came at {_at(events[0]['position'], events[0]['at'])}"
    if _is_before(events[0], asked):
        came += ", and was deleted again"
    return Problem(NOT_FOUND, "It was not there then", f"as of {then} there was no {what} {name}; {came}")


def _at(position: int, moment: str | None) -> str:
    return f"position {position}, {f'{clock(moment)} ({zone()})' if moment else 'before the first event'}"


def _is_before(event: Row, asked: str) -> bool:
    if is_position(asked):
        return bool(event["position"] <= int(asked))
    return datetime.fromisoformat(event["at"]) <= datetime.fromisoformat(asked)


def _require_past(client: Client, asked: str, answer: Row) -> None:
    """A moment that is still to come is answered with how things are now, which is not what was asked."""
    if is_position(asked):
        _require_position(client, int(asked), answer)
    elif datetime.fromisoformat(asked) > datetime.fromisoformat(answer["as_of"]) + CLOCKS_DIFFER:
        raise _still_to_come(asked)


def _require_position(client: Client, asked: int, answer: Row) -> None:
    """An answer is as of the end of a commit, so that it may be behind a position that there is."""
    if answer["position"] >= asked:
        return
    if not client.get("/events", after=max(0, asked - 1), limit=1)["events"]:
        raise _still_to_come(f"position {asked}, behind {answer['position']} at the end of the log,")


def _still_to_come(what: str) -> click.BadParameter:
    context = click.get_current_context()
    param = next((one for one in context.command.params if one.name == "as_of"), None)
    message = f"{what} is still to come; without --as-of the answer is as of now"
    return click.BadParameter(message, context, param)
