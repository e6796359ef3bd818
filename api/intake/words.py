"""The characters that text from outside may hold, in jobs and everywhere else.

The log would take a NUL, but the tables of the read models would not. A terminal obeys C1 controls, and after
a bidirectional override or isolate it shows text in another order: a name can pass for another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from domain.characters import STEERING_CLASS

_UNPRINTABLE: Final = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f{STEERING_CLASS}]")
_CONTROL: Final = re.compile(rf"[\x00-\x1f{STEERING_CLASS}]")


def printable(text: str) -> str:
    """Return the text. Raise ValueError if it holds a character that steers a terminal."""
    return _without(_UNPRINTABLE, text)


def one_line(text: str) -> str:
    """Return the text. Raise ValueError if it holds such a character or a line break.

    Names and options end up in boot loaders and environments, where a new line begins something else.
    """
    return _without(_CONTROL, text)


def refusal(found: re.Match[str]) -> str:
    """Return the message about a character that is not allowed."""
    return f"must not contain control characters: U+{ord(found.group()):04X}"


def _without(characters: re.Pattern[str], text: str) -> str:
    if found := characters.search(text):
        raise ValueError(refusal(found))
    return text


def number(called: str) -> Callable[[Any], Any]:
    """A check for what is called so. Text and true are no numbers, though both could be read as one. 12.0 is
    whole: JSON has one kind of number.
    """

    def checked(value: Any) -> Any:
        if isinstance(value, bool | str):
            raise ValueError(f"must be {called}")
        return value

    return checked
