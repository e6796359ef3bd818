"""How a command that failed says so: one message a person can act on, or one document for a machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from domain.errors import Fault, LabledgerError

# Set in the context by the commands that have --json.
AS_JSON = "labledger.as_json"
TRACEBACK = "LABLEDGER_TRACEBACK"
# What a shell takes for "ended by Ctrl-C".
INTERRUPTED = 130

# By the status of a problem, or the class of an error: what to do next.
ADVICE: dict[int | str, str] = {
    401: "Give a token by --token or LABLEDGER_TOKEN, or the data folder of `labledger up` by --data.",
    403: "This takes the token of somebody who may.",
    503: "The server waits for its database; try again in a moment.",
    504: "The read model has not caught up yet; is a projector running?",
    "DatabaseAway": "Is LABLEDGER_DATABASE_URL right, was `labledger migrate` run? See docs/operation.md.",
    "Unreachable": "Start a server with `labledger up`, or name another by --url or LABLEDGER_URL.",
}

# Errors that are the caller's wrong usage. By name, since importing their modules costs every start.
USAGE_ERRORS = frozenset({"BadSettings"})


class Failure(click.ClickException):
    """A refusal, shown."""

    def __init__(self, error: Exception, *, as_json: bool) -> None:
        super().__init__(str(error))
        self._error = error
        self._as_json = as_json

    def show(self, file: IO[Any] | None = None) -> None:
        lines = [json.dumps(document_of(self._error))] if self._as_json else lines_of(self._error)
        for line in lines:
            click.echo(line, file=file, err=file is None)


class WrongUsage(Failure):
    """A setting that cannot be, wherever it was given."""

    exit_code = 2


@contextmanager
def failures_shown(ctx: click.Context) -> Iterator[None]:
    """Never a traceback, unless one is asked for; click's own endings pass."""
    try:
        yield
    except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
        raise
    except KeyboardInterrupt:
        # Behind the ^C that the terminal shows.
        click.echo(err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        failure = WrongUsage if type(error).__name__ in USAGE_ERRORS else Failure
        raise failure(error, as_json=bool(ctx.meta.get(AS_JSON))) from error


def lines_of(error: Exception) -> list[str]:
    """What went wrong, each fault with its place on a line of its own, and what to do next."""
    faults = _faults(error)
    lines = [f"Error: {_summary(error, faults)}"]
    lines += [f"  {fault.where}: {fault.message}" for fault in faults]
    advice = ADVICE.get(getattr(error, "status", type(error).__name__))
    return lines + ([advice] if advice else [])


def document_of(error: Exception) -> dict[str, Any]:
    faults = [{"where": fault.where, "message": fault.message} for fault in _faults(error)]
    document = {"title": _title(error), "detail": _detail(error), "errors": faults}
    return document | ({"status": error.status} if hasattr(error, "status") else {})


def _summary(error: Exception, faults: tuple[Fault, ...]) -> str:
    if not isinstance(error, LabledgerError):
        return f"{_title(error)} (set {TRACEBACK}=1 to see where)"
    if faults:
        return ": ".join(part for part in (_title(error), getattr(error, "detail", "")) if part)
    return str(error) or _title(error)


def _title(error: Exception) -> str:
    if isinstance(error, LabledgerError):
        return error.title
    return f"unexpected {type(error).__name__}: {error}"


def _detail(error: Exception) -> str:
    return str(getattr(error, "detail", error))


def _faults(error: Exception) -> tuple[Fault, ...]:
    faults: tuple[Fault, ...] = getattr(error, "faults", ())
    return faults
