"""The given options, and the messages about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from cli.terminal.output import note

Document = dict[str, Any]
Options = Mapping[str, Any]
"""Options by their names in Python."""


class InvalidOptions(Exception):
    """All errors of the options, one per line."""


def text_of(option: str, file: IO[bytes]) -> str:
    """Return the text of a file. Raise `InvalidOptions` if it is not UTF-8."""
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidOptions(f"{option} {file.name}: is not UTF-8, at byte {error.start}") from None


def warn(options: Options, message: str) -> None:
    """Print a warning to standard error, unless the user asked for quiet."""
    if not options["quiet"]:
        note(f"warning: {message}")
