"""`--as-of`: a moment of the past, and the checks and messages for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.params import CLOCKS_DIFFER, PAST_EXAMPLES, TimeParam
from cli.terminal.output import Output, note
from cli.terminal.wording import clock, zone

if TYPE_CHECKING:
    from api.client import Client, ServerProblem
    from cli.terminal.tables import Row

NOT_FOUND = 404


class PositionOrMoment(TimeParam):
    allowed = "a log position or a time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if is_position(str(value)) else super().convert(value, param, ctx)


as_of = click.option(
    "--as-of",
    metavar="POSITION|TIME",
    type=PositionOrMoment(past=True),
    help=f"Show the state as of this log position, or time such as {PAST_EXAMPLES} (local without a zone).",
)


def is_position(text: str) -> bool:
    return text.isascii() and text.isdigit()


def note_moment(client: Client, output: Output, as_of: str | None, answer: Row) -> None:
    """Print the moment of an answer to `--as-of`. Raise BadParameter if that moment is in the future."""
    if as_of is None:
        return
    _require_past(client, as_of, answer)
    if not output.as_json:
        note(f"as of {_at(answer['position'], answer.get('as_of'))}")


@contextmanager
def absence_explained(client: Client, as_of: str | None, kind: str, name: object) -> Iterator[None]:
    """Turn a 404 into a message that says when the object was added, and whether it was deleted later."""
    from api.client import ServerProblem

    try:
        yield
    except ServerProblem as problem:
        if as_of is None or problem.status != NOT_FOUND:
            raise
        raise _not_then(client, as_of, kind, name) or problem from None


def read_as_of(
    client: Client, output: Output, path: str, kind: str, name: object, as_of: str | None, **query: Any
) -> dict[str, Any]:
    """Return the answer about an object as of a moment, after a note of that moment; explain a 404."""
    with absence_explained(client, as_of, kind, name):
        answer: dict[str, Any] = client.get(path, as_of=as_of, **query)
    note_moment(client, output, as_of, answer)
    return answer


def _not_then(client: Client, as_of: str, kind: str, name: object) -> ServerProblem | None:
    """Return the problem with the first event of the object; None if there is no event, or it is hidden."""
    from api.client import ServerProblem

    try:
        events = client.get("/events", subject=f"{kind.replace(' ', '-')}/{name}", limit=1)["events"]
    except ServerProblem:
        return None
    if not events:
        return None
    then = f"position {as_of}" if is_position(as_of) else f"{clock(as_of)} ({zone()})"
    history = f"it was added at {_at(events[0]['position'], events[0]['at'])}"
    if _is_before(events[0], as_of):
        history += " and deleted later"
    return ServerProblem(
        NOT_FOUND, "Not found at that time", f"as of {then}, {kind} {name} did not exist; {history}"
    )


def _at(position: int, moment: str | None) -> str:
    return f"position {position}, {f'{clock(moment)} ({zone()})' if moment else 'before the first event'}"


def _is_before(event: Row, as_of: str) -> bool:
    if is_position(as_of):
        return bool(event["position"] <= int(as_of))
    return datetime.fromisoformat(event["at"]) <= datetime.fromisoformat(as_of)


def _require_past(client: Client, as_of: str, answer: Row) -> None:
    """Raise BadParameter for a moment in the future. The server would answer as of now without an error."""
    if is_position(as_of):
        _require_position(client, int(as_of), answer)
    elif datetime.fromisoformat(as_of) > datetime.fromisoformat(answer["as_of"]) + CLOCKS_DIFFER:
        raise _in_future(as_of)


def _require_position(client: Client, as_of: int, answer: Row) -> None:
    """Raise BadParameter for a position beyond the end of the log.

    The answer is as of the end of a commit. If `as_of` is in the middle of a commit, it exists although the
    position of the answer is lower.
    """
    if answer["position"] >= as_of:
        return
    if not client.get("/events", after=max(0, as_of - 1), limit=1)["events"]:
        raise _in_future(f"position {as_of}, beyond the end of the log at {answer['position']},")


def _in_future(moment: str) -> click.BadParameter:
    context = click.get_current_context()
    param = next((param for param in context.command.params if param.name == "as_of"), None)
    message = f"{moment} is in the future; omit --as-of for the present state"
    return click.BadParameter(message, context, param)
