"""The option that reads a secret from a file, so that no process list or history of a shell has it."""

from __future__ import annotations

from typing import IO

import click

from cli.arguments.params import Decorator


def secret_file_option(more: str = "") -> Decorator:
    """Add `--secret-file`, whose value `secret` is the first line of the file, None without the option."""
    help_text = "Read the secret from the first line of this file; - reads standard input."
    return click.option(
        "--secret-file", "secret", type=click.File(), callback=_first_line, help=f"{help_text} {more}".strip()
    )


def _first_line(_: click.Context, __: click.Parameter, file: IO[str] | None) -> str | None:
    return None if file is None else file.readline().rstrip("\n")
