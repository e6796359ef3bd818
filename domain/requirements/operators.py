"""The comparison operators of the language."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from domain.requirements.patterns import like

Test: TypeAlias = Callable[[Any], bool]

# Written operator -> canonical operator.
SPELLINGS: Final = {op: op for op in ("==", "!=", "like", ">", ">=", "<", "<=", "other")} | {"=": "=="}

EQUALITY: Final = ("==", "!=")
MATCHING: Final = (*EQUALITY, "like")
EVERY: Final = (*EQUALITY, ">", ">=", "<", "<=", "like")

# True for a list that has members, but not this one; `!=` is also true for an empty list.
OTHER: Final = "other"
NEGATIVE: Final = ("!=", OTHER)
MATCHING_NAMES: Final = (*MATCHING, OTHER)
EVERY_OF_A_KEY: Final = (*EVERY, OTHER)

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def fold(value: Any) -> Any:
    """Return text case-folded, other values unchanged: comparisons ignore case."""
    return value.casefold() if isinstance(value, str) else value


def test(op: str, operand: Any) -> Test:
    """Return a function that returns `value op operand` for a value; value and operand must be folded."""
    if op == "like":
        matches = like(operand)
        return lambda value: matches(value if isinstance(value, str) else as_text(value))
    compare = _COMPARE[op]
    return lambda value: compare(value, operand)


def as_text(number: Any) -> str:
    """Return a number as text for patterns, a whole float without its decimal point."""
    return str(int(number) if isinstance(number, float) and number.is_integer() else number)


def keyed_test(op: str, operand: str | None) -> Test:
    """Return a test of the values of a key. Without operand all pass; whole numbers compare as numbers."""
    if operand is None:
        return lambda value: True
    passes = test(op, operand)
    if op == "like" or not _WHOLE.fullmatch(operand):
        return passes
    passes_number = test(op, int(operand))
    return lambda value: passes_number(int(value)) if _WHOLE.fullmatch(value) else passes(value)


_WHOLE: Final = re.compile(r"-?[0-9]{1,18}")
