"""The comparisons of the language."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

Test: TypeAlias = Callable[[Any], bool]

# As written -> as kept.
SPELLINGS: Final = {op: op for op in ("==", "!=", "like", ">", ">=", "<", "<=")} | {"=": "=="}

EQUALITY: Final = ("==", "!=")
MATCHING: Final = (*EQUALITY, "like")
ORDER: Final = (*EQUALITY, ">", ">=", "<", "<=")
EVERY: Final = (*ORDER, "like")

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def fold(value: Any) -> Any:
    """Text without its case: the language does not tell `14E4` from `14e4`."""
    return value.casefold() if isinstance(value, str) else value


def test(op: str, operand: Any) -> Test:
    """The question `value op operand`, both folded."""
    if op == "like":
        pattern = like(operand)
        return lambda value: pattern.fullmatch(str(value)) is not None
    compare = _COMPARE[op]
    return lambda value: compare(value, operand)


def like(operand: str) -> re.Pattern[str]:
    """`%` stands for any text and `_` for one character; there is no escape.

    Atomic groups keep a hostile `%a%a%a…` from backtracking: the leftmost place for a middle piece is always
    good enough, only the last one must reach the end.
    """
    head, *pieces = (
        "".join("." if c == "_" else re.escape(c) for c in piece) for piece in operand.split("%")
    )
    middle = "".join(f"(?>.*?{piece})" for piece in pieces[:-1] if piece)
    tail = f".*{pieces[-1]}" if pieces else ""
    return re.compile(head + middle + tail, re.DOTALL)


def compare_keyed(op: str, value: str, operand: str) -> bool:
    """Values of a key are text, but two whole numbers compare as numbers."""
    if op != "like" and _WHOLE.fullmatch(value) and _WHOLE.fullmatch(operand):
        return test(op, int(operand))(int(value))
    return test(op, operand)(value)


_WHOLE: Final = re.compile(r"-?[0-9]{1,18}")
