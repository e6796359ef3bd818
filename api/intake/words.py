"""Which characters text from outside may hold, in jobs and everywhere else.

A NUL is a matter of life: the log takes it, the tables of the read models do not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def printable(text: str) -> str:
    if _UNPRINTABLE.search(text):
        raise ValueError("must not hold control characters")
    return text


def one_line(text: str) -> str:
    """Names and options end up in boot loaders and environments, where a new line begins something else."""
    if _CONTROL.search(text):
        raise ValueError("must not hold control characters")
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
