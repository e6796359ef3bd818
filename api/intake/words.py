"""Validators of the characters of input texts, in jobs and all other input.

The read models cannot store a NUL. Terminals execute C1 controls, and bidirectional controls change the order
in which text is shown, so a name can look like another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from domain.characters import CONTROL_CLASS, LINE_CONTROLS

_UNPRINTABLE: Final = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f{CONTROL_CLASS}]")


def printable(text: str) -> str:
    """Return the text. Raises ValueError if it contains a character that controls a terminal."""
    return _without(_UNPRINTABLE, text)


def one_line(text: str) -> str:
    """Return the text. Raises ValueError for a tab, a line break, or a character that controls a terminal.

    Names and options are written into boot loaders and environments, where a line break starts another entry.
    """
    return _without(LINE_CONTROLS, text)


def refusal(match: re.Match[str]) -> str:
    return f"must not contain control characters: U+{ord(match.group()):04X}"


def _without(characters: re.Pattern[str], text: str) -> str:
    if match := characters.search(text):
        raise ValueError(refusal(match))
    return text


def number(kind: str) -> Callable[[Any], Any]:
    """Return a validator that refuses texts and booleans; `kind` is the name of the type in messages."""

    def checked(value: Any) -> Any:
        if isinstance(value, bool | str):
            raise ValueError(f"must be {kind}")
        return value

    return checked
