"""The given options, and the messages about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from cli.terminal.output import note

Document = dict[str, Any]
Told = Mapping[str, Any]
"""Options by their names in Python."""


class Wrong(Exception):
    """All errors of the options, one per line."""


def text_of(option: str, file: IO[bytes]) -> str:
    """Return the text of a file. Raise `Wrong` if it is not UTF-8."""
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Wrong(f"{option} {file.name}: is not UTF-8, at byte {error.start}") from None


def warn(told: Told, message: str) -> None:
    """Print a warning to standard error, unless the user asked for quiet."""
    if not told["quiet"]:
        note(f"warning: {message}")
