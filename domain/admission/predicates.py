"""Predicates of job filters: comparisons with the facts of a recipe set, joined by and, or and not.

The JSON form is that of requirements (`docs/requirements.md`) with `field` in place of `element`:

    {"field": "user", "op": "=", "value": "ada"}        {"field": "job_id", "op": ">", "value": "watermark"}
    {"field": "priority", "op": ">=", "value": "High"}  {"field": "task", "op": "in", "value": ["/a", "/b"]}
    {"and": [...]}  {"or": [...]}  {"not": [...]}       {"not": {...}}

- All three parts of a comparison are required, and `and`, `or` and `not` must not be empty, so that a mistake
  never matches all sets. `not` of a list means that not all of its predicates hold, as in requirements.
- Every comparison is case-sensitive, `like` included, unlike in requirements: the names of two users may
  differ by case alone.
- `like` compares the whole text with a pattern: `%` stands for any text, `_` for one character, and nothing
  escapes them. Only texts have `like`: a pattern is no number, and no name of a priority.
- `<`, `<=`, `>` and `>=` compare job ids as numbers, priorities by rank (Low < Medium < Normal < High <
  Urgent) and texts by code points.
- `in` takes a list with at least one value.
- `user` is the owner of the job. A job without a group has the empty text for its `group`.
- `priority` is the present nominal priority of the set.
- `task`, `operation` and `reason` have any number of values. A comparison is true if any value satisfies it,
  and false without values. `!=` is the opposite of `=`, as in requirements: true if no value is equal, and
  so without values.
- `watermark` stands for the watermark of the job filter, alone or in the list of `in`.
- Names need not exist. No other value is converted: 7 is no text, and "7" no number.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from domain.document_checks import MAX_ID, fields_of, is_whole, items_of, quoted, read_value, text, whole
from domain.priority import Priority
from domain.requirements.findings import Path, Report
from domain.requirements.patterns import like

MAX_DEPTH: Final = 20
"""The maximum number of `and`, `or` and `not` around a comparison."""
MAX_PREDICATE_BYTES: Final = 65_536
"""The maximum size of a predicate as JSON without insignificant whitespace, in UTF-8."""

WATERMARK: Final = "watermark"


class SetFacts(NamedTuple):
    """The facts of a recipe set that predicates compare; tasks, operations and reasons of all its recipes."""

    job_id: int
    user: str
    submitter: str
    group: str | None
    priority: Priority
    tasks: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


Operand: TypeAlias = int | str
"""A job id, a text or a priority; `WATERMARK` in place of a job id."""


class Comparison(NamedTuple):
    """A fact compared with one value, or with several for `in`."""

    field: str
    op: str
    value: Operand | tuple[Operand, ...]


class Junction(NamedTuple):
    """Predicates joined by `and`, `or` or `not`; `not` is true if at least one of them is false."""

    word: str
    children: tuple[Predicate, ...]


Predicate: TypeAlias = Comparison | Junction
Matches: TypeAlias = Callable[[SetFacts], bool]


class Field(NamedTuple):
    """A row of the table of fields: its values, the reader of an operand, and the operators."""

    values: Callable[[SetFacts], Any]
    read: Callable[[Any], Operand]
    operators: tuple[str, ...]
    has_many: bool = False


def _job_id(raw: Any) -> Operand:
    if raw == WATERMARK:
        return WATERMARK
    if not is_whole(raw):
        raise ValueError(f'must be a whole number or "{WATERMARK}"')
    return whole(raw, 0, MAX_ID)


def _priority(raw: Any) -> Operand:
    if not isinstance(raw, str) or raw not in Priority.__members__:
        raise ValueError(f"must be one of {', '.join(Priority.__members__)}")
    return Priority[raw]


_OF_NUMBERS: Final = ("=", "!=", "<", "<=", ">", ">=", "in")
_OF_TEXTS: Final = (*_OF_NUMBERS, "like")

FIELDS: Final[Mapping[str, Field]] = {
    "job_id": Field(lambda facts: facts.job_id, _job_id, _OF_NUMBERS),
    "user": Field(lambda facts: facts.user, text, _OF_TEXTS),
    "submitter": Field(lambda facts: facts.submitter, text, _OF_TEXTS),
    "group": Field(lambda facts: facts.group or "", text, _OF_TEXTS),
    "priority": Field(lambda facts: facts.priority, _priority, _OF_NUMBERS),
    "task": Field(lambda facts: facts.tasks, text, _OF_TEXTS, has_many=True),
    "operation": Field(lambda facts: facts.operations, text, _OF_TEXTS, has_many=True),
    "reason": Field(lambda facts: facts.reasons, text, _OF_TEXTS, has_many=True),
}
OPERATORS: Final = _OF_TEXTS
JUNCTIONS: Final = ("and", "or", "not")


def predicate_from_json(form: Any, path: Path, report: Report) -> Predicate | None:
    """Return the predicate of a form of JSON values; report every fault, and return None if there is one."""
    is_small = _bytes_as_json(form) <= MAX_PREDICATE_BYTES
    if not is_small:
        report(path, f"is larger than {MAX_PREDICATE_BYTES} bytes")
    predicate = _read(form, 0, path, report)
    return predicate if is_small else None


def predicate_to_json(predicate: Predicate) -> dict[str, Any]:
    """Return the canonical form: equal for equal predicates, with a list for `not`."""
    match predicate:
        case Junction(word, children):
            return {word: [predicate_to_json(child) for child in children]}
        case Comparison(field, op, value):
            shown = [*map(_shown, value)] if isinstance(value, tuple) else _shown(value)
            return {"field": field, "op": op, "value": shown}


def matcher(predicate: Predicate | None, watermark: int) -> Matches:
    """Compile a predicate to a function of facts; None matches all sets.

    Compile once for each job filter: a function is applied to every recipe set.
    """
    match predicate:
        case None:
            return lambda facts: True
        case Junction(word, children):
            return _joined(word, [matcher(child, watermark) for child in children])
        case Comparison():
            return _compared(predicate, watermark)


def _bytes_as_json(form: Any) -> int:
    """Return the size of a form as compact JSON. Without recursion, since a form may be nested very deep."""
    size, parts = 0, [form]
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            size += max(2, 2 * len(part) + 1)
            parts += [*part, *part.values()]
        elif isinstance(part, list):
            size += max(2, len(part) + 1)
            parts += part
        else:
            size += len(json.dumps(part, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return size


def _read(form: Any, depth: int, path: Path, report: Report) -> Predicate | None:
    if not isinstance(form, Mapping):
        report(path, f"must be an object with field, op and value, or with one of {', '.join(JUNCTIONS)}")
        return None
    if "field" in form:
        return _comparison(form, path, report)
    word = next(iter(form), None)
    if len(form) != 1 or word not in JUNCTIONS:
        report(path, f"must be an object with field, op and value, or with one of {', '.join(JUNCTIONS)}")
        return None
    if depth >= MAX_DEPTH:
        report(path, f"is nested deeper than {MAX_DEPTH} levels")
        return None
    return _junction(word, form[word], depth + 1, (*path, word), report)


def _junction(word: str, inner: Any, depth: int, path: Path, report: Report) -> Junction | None:
    if word == "not" and isinstance(inner, Mapping):
        child = _read(inner, depth, path, report)
        return None if child is None else Junction(word, (child,))
    read = [_read(form, depth, place, report) for place, form in items_of(inner, path, report)]
    if inner == []:
        report(path, "must not be empty")
    children = tuple(child for child in read if child is not None)
    return Junction(word, children) if children and len(children) == len(read) else None


def _comparison(form: Mapping[str, Any], path: Path, report: Report) -> Comparison | None:
    given = fields_of(form, Comparison._fields, path, report)
    missing = [name for name in Comparison._fields if name not in given]
    for name in missing:
        report((*path, name), "is missing")
    row = _row(given["field"], (*path, "field"), report)
    op = _operator(given["op"], given["field"], row, (*path, "op"), report) if "op" in given else None
    if row is None or "value" not in given:
        return None
    value = _value(given["value"], row, op, (*path, "value"), report)
    if op is None or value is None or len(form) != len(given):
        return None
    return Comparison(given["field"], op, value)


def _row(field: Any, path: Path, report: Report) -> Field | None:
    row = FIELDS.get(field) if isinstance(field, str) else None
    if row is None:
        report(path, f'unknown field "{quoted(field)}"; must be one of {", ".join(FIELDS)}')
    return row


def _operator(op: Any, field: Any, row: Field | None, path: Path, report: Report) -> str | None:
    """Return an operator of the field; if the field is unknown, any operator."""
    allowed = row.operators if row else OPERATORS
    if isinstance(op, str) and op in allowed:
        return op
    if op in OPERATORS:
        report(path, f"{op} is not for {field}; must be one of {' '.join(allowed)}")
        return None
    report(path, f'unknown operator "{quoted(op)}"; must be one of {" ".join(allowed)}')
    return None


def _value(
    raw: Any, row: Field, op: str | None, path: Path, report: Report
) -> Operand | tuple[Operand, ...] | None:
    """Return the operand, or the operands of `in`. With an unknown operator either is checked."""
    if op != "in" and (op or not isinstance(raw, list)):
        return read_value(row.read, raw, path, report)
    if raw == []:
        report(path, "must not be empty")
    read = [read_value(row.read, item, place, report) for place, item in items_of(raw, path, report)]
    operands = tuple(operand for operand in read if operand is not None)
    return operands if operands and len(operands) == len(read) else None


def _shown(operand: Operand) -> Operand:
    return operand.name if isinstance(operand, Priority) else operand


def _joined(word: str, children: Sequence[Matches]) -> Matches:
    match word:
        case "and":
            return lambda facts: all(matches(facts) for matches in children)
        case "or":
            return lambda facts: any(matches(facts) for matches in children)
        case _:
            return lambda facts: not all(matches(facts) for matches in children)


_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda value, operands: value in operands,
}


def _compared(comparison: Comparison, watermark: int) -> Matches:
    row = FIELDS[comparison.field]
    satisfies = _test(comparison, watermark)
    values = row.values
    if row.has_many and comparison.op == "!=":
        return lambda facts: all(map(satisfies, values(facts)))
    if row.has_many:
        return lambda facts: any(map(satisfies, values(facts)))
    return lambda facts: satisfies(values(facts))


def _test(comparison: Comparison, watermark: int) -> Callable[[Any], bool]:
    """Return a function that returns `value op operand` for a value."""
    if comparison.op == "like":
        return like(str(comparison.value))
    compare = _COMPARE[comparison.op]
    operand = _with_watermark(comparison, watermark)
    return lambda value: compare(value, operand)


def _with_watermark(comparison: Comparison, watermark: int) -> Any:
    """Return the operand, that of `in` as a set, with a number in place of `watermark`."""
    stands_for = {WATERMARK: watermark} if comparison.field == "job_id" else {}
    value = comparison.value
    if isinstance(value, tuple):
        return frozenset(stands_for.get(str(operand), operand) for operand in value)
    return stands_for.get(str(value), value)
