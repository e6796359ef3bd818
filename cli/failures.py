"""How a command that failed says so: one message a person can act on, or one document for a machine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from domain.errors import Fault, LabledgerError

# Set in the context: what the output is for.
AS_JSON = "labledger.as_json"
REFUSED, WRONG_USAGE = 1, 2
# What a shell takes for "ended by Ctrl-C".
INTERRUPTED = 130
# And for "ended since nobody reads on", as of all that stands before `| head`.
UNREAD = 141

# Errors that are the caller's wrong usage. By name, since importing their modules costs every start.
USAGE_ERRORS = frozenset({"BadSettings"})


class Failure(click.ClickException):
    """A refusal, shown."""

    def __init__(self, error: Exception, *, as_json: bool) -> None:
        super().__init__(str(error))
        # click calls an exit code a constant; of ours it is a property of the error.
        self.exit_code = exit_status(error)  # type: ignore[misc]
        # Now, while it is known what was being done.
        self._lines = [json.dumps(document_of(error))] if as_json else lines_of(error)

    def show(self, file: IO[Any] | None = None) -> None:
        for line in self._lines:
            click.echo(line, file=file, err=file is None)


def tell(error: Exception, place: str, *, as_json: bool) -> None:
    """A failure of one of many, after which it goes on with the others."""
    if as_json:
        click.echo(json.dumps({"where": place, **document_of(error)}), err=True)
    else:
        click.echo("\n".join((f"{place}:", *lines_of(error))), err=True)


@contextmanager
def failures_shown(ctx: click.Context) -> Iterator[None]:
    """Never a traceback, unless one is asked for; what click says of itself passes, but for machines."""
    as_json = bool(ctx.meta.get(AS_JSON))
    try:
        yield
    except (Failure, click.exceptions.Exit):
        raise
    except BrokenPipeError:
        # Who has read enough needs to hear of nothing; nor is the rest to fail once more at the very end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(UNREAD) from None
    except (KeyboardInterrupt, click.Abort):
        if sys.stderr.isatty():
            # Behind the ^C that the terminal shows.
            click.echo(err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except click.ClickException as error:
        if not as_json or isinstance(error, click.exceptions.NoArgsIsHelpError):
            raise
        raise Failure(error, as_json=True) from error
    except Exception as error:
        if _traceback_wanted():
            raise
        raise Failure(error, as_json=as_json) from error


def _traceback_wanted() -> bool:
    from runtime.settings import BadSettings, Settings

    try:
        return Settings.read().traceback
    except BadSettings:
        # A message will do: that of the settings, if nothing else is wrong.
        return False


def exit_status(error: Exception) -> int:
    if isinstance(error, click.ClickException):
        return error.exit_code
    return WRONG_USAGE if type(error).__name__ in USAGE_ERRORS else REFUSED


def lines_of(error: Exception) -> list[str]:
    """What went wrong, each fault with its place on a line of its own, and what to do next."""
    from cli.advice import advice_on

    faults = _faults(error)
    lines = [f"Error: {_summary(error, faults)}"]
    lines += [f"  {fault.where}: {fault.message}" for fault in faults]
    advice = advice_on(error)
    return lines + ([advice] if advice else [])


def document_of(error: Exception) -> dict[str, Any]:
    """As the API tells problems, with what to do next."""
    from cli.advice import advice_on

    faults = [{"where": fault.where, "message": fault.message} for fault in _faults(error)]
    document = {"title": _title(error), "detail": _detail(error), "errors": faults}
    more = {"status": getattr(error, "status", None), "advice": advice_on(error)}
    return document | {name: value for name, value in more.items() if value is not None}


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
        return "Labledger could not do this"
    if isinstance(error, OSError) and error.filename:
        return "A file or folder cannot be used"
    return f"unexpected {type(error).__name__}: {error}"


def _detail(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return error.format_message()
    return str(getattr(error, "detail", error))


def _faults(error: Exception) -> tuple[Fault, ...]:
    faults: tuple[Fault, ...] = getattr(error, "faults", ())
    return faults
