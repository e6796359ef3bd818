"""Comparisons of a value with the operand of a requirement. Text is compared without case."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

Test = Callable[[Any], bool]
"""A test of a value that is not None."""

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def compared(op: str, operand: Any) -> Test:
    if op == "like":
        return like(str(operand).casefold())
    compare = COMPARE[op]
    return lambda value: compare(value, operand)


def like(pattern: str) -> Test:
    """Return a test for a pattern of `%` (any text) and `_` (a character); leftmost matches suffice."""
    parts = pattern.split("%")
    if len(parts) == 3 and parts[0] == parts[2] == "" and "_" not in pattern:
        # Most patterns are of this kind, and they are tested against many names.
        return lambda value: parts[1] in str(value)
    first, *rest = (
        re.compile("".join("." if char == "_" else re.escape(char) for char in piece), re.DOTALL)
        for piece in parts
    )

    def test(value: object) -> bool:
        text = str(value)
        if not rest:
            return first.fullmatch(text) is not None
        found = first.match(text)
        for piece in rest[:-1]:
            found = found and piece.search(text, found.end())
        last = len(text) - len(parts[-1])
        return found is not None and found.end() <= last and rest[-1].fullmatch(text, last) is not None

    return test
