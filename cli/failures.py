"""Failures of commands: a message for people or a JSON document, and the exit status."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from domain.errors import Fault, LabledgerError

# Key in the click context: whether the command prints JSON.
AS_JSON = "labledger.as_json"
REFUSED, WRONG_USAGE = 1, 2
# Exit status after Ctrl-C: 128 plus SIGINT, as shells expect.
INTERRUPTED = 130
# Exit status after the reader of the output has closed the pipe, as `| head` does: 128 plus SIGPIPE.
UNREAD = 141

# Names of the errors that are wrong usage. Importing their classes would slow down every start.
USAGE_ERRORS = frozenset({"BadSettings"})


class CommandFailure(click.ClickException):
    """An error as click shows it."""

    def __init__(self, error: Exception, *, as_json: bool) -> None:
        super().__init__(str(error))
        # click declares the exit code as a class variable.
        self.exit_code = exit_status(error)  # type: ignore[misc]
        # Computed here and not in `show`, because advice needs the click context of the command.
        self._lines = [json.dumps(document_of(error))] if as_json else lines_of(error)

    def show(self, file: IO[Any] | None = None) -> None:
        for line in self._lines:
            click.echo(line, file=file, err=file is None)


def print_failure(error: Exception, location: str, *, as_json: bool) -> None:
    """Print the failure of one item of a command that continues with the other items."""
    if as_json:
        click.echo(json.dumps({"where": location, **document_of(error)}), err=True)
    else:
        click.echo("\n".join((f"{location}:", *lines_of(error))), err=True)


@contextmanager
def failures_shown(ctx: click.Context) -> Iterator[None]:
    """Turn errors into `CommandFailure`, and Ctrl-C and a closed pipe into exits with their status.

    Errors of click pass unchanged, unless the command prints JSON. Other errors pass unchanged if the setting
    `traceback` is on.
    """
    as_json = bool(ctx.meta.get(AS_JSON))
    try:
        yield
    except (CommandFailure, click.exceptions.Exit):
        raise
    except BrokenPipeError:
        # Python would fail again when it flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(UNREAD) from None
    except (KeyboardInterrupt, click.Abort):
        if sys.stderr.isatty():
            # The terminal shows ^C on this line.
            click.echo(err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except click.ClickException as error:
        if not as_json or isinstance(error, click.exceptions.NoArgsIsHelpError):
            raise
        raise CommandFailure(error, as_json=True) from error
    except Exception as error:
        if _shows_tracebacks():
            raise
        raise CommandFailure(error, as_json=as_json) from error


def _shows_tracebacks() -> bool:
    from runtime.settings import BadSettings, Settings

    try:
        return Settings.read().traceback
    except BadSettings:
        # A message reports the invalid settings.
        return False


def exit_status(error: Exception) -> int:
    if isinstance(error, click.ClickException):
        return error.exit_code
    return WRONG_USAGE if type(error).__name__ in USAGE_ERRORS else REFUSED


def lines_of(error: Exception) -> list[str]:
    """Return the message, a line for each fault with its location, and the advice."""
    from cli.advice import advice_on

    faults: tuple[Fault, ...] = getattr(error, "faults", ())
    lines = [f"Error: {_summary(error, faults)}"]
    lines += [f"  {fault.where}: {fault.message}" for fault in faults]
    advice = advice_on(error)
    return lines + ([advice] if advice else [])


def document_of(error: Exception) -> dict[str, Any]:
    """Return the error as a problem document of the API, with the advice."""
    from cli.advice import advice_on

    faults = [{"where": fault.where, "message": fault.message} for fault in getattr(error, "faults", ())]
    document = {"title": _title(error), "detail": _detail(error), "errors": faults}
    optional = {"status": getattr(error, "status", None), "advice": advice_on(error)}
    return document | {name: value for name, value in optional.items() if value is not None}


def _summary(error: Exception, faults: tuple[Fault, ...]) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    if not isinstance(error, LabledgerError):
        return f"{_title(error)} (set LABLEDGER_TRACEBACK=yes to see where)"
    if faults:
        return ": ".join(part for part in (_title(error), getattr(error, "detail", "")) if part)
    return str(error) or _title(error)


def _title(error: Exception) -> str:
    if isinstance(error, LabledgerError):
        return error.title
    if isinstance(error, click.UsageError):
        return "Wrong usage"
    if isinstance(error, click.ClickException):
        return "The command failed"
    if isinstance(error, OSError) and error.filename:
        return "Cannot use a file or folder"
    return f"unexpected {type(error).__name__}: {error}"


def _detail(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return error.format_message()
    return str(getattr(error, "detail", error))
