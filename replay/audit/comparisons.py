"""How a value is held against what a requirement asks for; text of both has no case."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

Test = Callable[[Any], bool]
"""Of a value that is known."""

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
    """`%` stands for any text, `_` for one character. What is between two `%` is as good where it is found
    first as anywhere else.
    """
    written = pattern.split("%")
    if len(written) == 3 and written[0] == written[2] == "" and "_" not in pattern:
        # By far the most are of this kind, and there are many names to look through.
        return lambda value: written[1] in str(value)
    first, *rest = (
        re.compile("".join("." if sign == "_" else re.escape(sign) for sign in piece), re.DOTALL)
        for piece in written
    )

    def test(value: object) -> bool:
        text = str(value)
        if not rest:
            return first.fullmatch(text) is not None
        found = first.match(text)
        for piece in rest[:-1]:
            found = found and piece.search(text, found.end())
        last = len(text) - len(written[-1])
        return found is not None and found.end() <= last and rest[-1].fullmatch(text, last) is not None

    return test
