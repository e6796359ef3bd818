"""The characters that input texts may contain, in jobs and everywhere else.

The read models cannot store a NUL. A terminal obeys C1 controls, and after a bidirectional override or
isolate it shows text in another order, so a name can look like another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from domain.characters import CONTROL_CLASS

_UNPRINTABLE: Final = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f{CONTROL_CLASS}]")
_CONTROL: Final = re.compile(rf"[\x00-\x1f{CONTROL_CLASS}]")


def printable(text: str) -> str:
    """Return the text. Raises ValueError if it contains a character that controls a terminal."""
    return _without(_UNPRINTABLE, text)


def one_line(text: str) -> str:
    """Return the text. Raises ValueError if it contains such a character or a line break.

    Names and options are written into boot loaders and environments, where a line break starts another entry.
    """
    return _without(_CONTROL, text)


def refusal(found: re.Match[str]) -> str:
    """Return the message for a forbidden character."""
    return f"must not contain control characters: U+{ord(found.group()):04X}"


def _without(characters: re.Pattern[str], text: str) -> str:
    if found := characters.search(text):
        raise ValueError(refusal(found))
    return text


def number(called: str) -> Callable[[Any], Any]:
    """Return a validator that refuses texts and booleans as numbers. 12.0 is whole, as in JSON.

    `called` is the name of the type in messages.
    """

    def checked(value: Any) -> Any:
        if isinstance(value, bool | str):
            raise ValueError(f"must be {called}")
        return value

    return checked
