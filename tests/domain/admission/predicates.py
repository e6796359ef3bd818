"""Forms of predicates, sample facts, and a plain evaluation of forms that shares no code with the product."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from domain.admission.predicates import SetFacts, matcher, predicate_from_json
from domain.priority import Priority
from tests.domain.admission.findings import valid

Form = dict[str, Any]

FACTS = SetFacts(
    job_id=17,
    user="ada",
    submitter="bob",
    group="qe",
    priority=Priority.High,
    tasks=("/disk/move", "/check"),
    operations=("storage-move",),
    reasons=("rate-limit:2:array", "nightly"),
)
NOTHING = SetFacts(1, "ada", "ada", None, Priority.Low)


def compare(field: str, op: str, value: Any) -> Form:
    return {"field": field, "op": op, "value": value}


def matches(form: Form, facts: SetFacts = FACTS, watermark: int = 20) -> bool:
    predicate = valid(lambda path, report: predicate_from_json(form, path, report))
    return matcher(predicate, watermark)(facts)


_RANKS = ["Low", "Medium", "Normal", "High", "Urgent"]
_PLAIN: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda value, operand: value == operand,
    "!=": lambda value, operand: value != operand,
    "<": lambda value, operand: value < operand,
    "<=": lambda value, operand: value <= operand,
    ">": lambda value, operand: value > operand,
    ">=": lambda value, operand: value >= operand,
    "in": lambda value, operand: value in operand,
    "like": lambda value, operand: _as_expression(operand).fullmatch(value) is not None,
}


def plain_answer(form: Form, facts: SetFacts, watermark: int) -> bool:
    """Return the answer of a valid form, found by going through it."""
    if "field" not in form:
        ((word, inner),) = form.items()
        answers = [plain_answer(child, facts, watermark) for child in inner]
        return {"and": all(answers), "or": any(answers), "not": not all(answers)}[word]
    operand = form["value"]
    if form["field"] == "job_id":
        operand = _with(lambda each: watermark if each == "watermark" else each, operand)
    if form["field"] == "priority":
        operand = _with(_RANKS.index, operand)
    answers = [_PLAIN[form["op"]](value, operand) for value in _values(form["field"], facts)]
    return all(answers) if form["op"] == "!=" else any(answers)


def _with(change: Callable[[Any], Any], operand: Any) -> Any:
    return [*map(change, operand)] if isinstance(operand, list) else change(operand)


def _values(field: str, facts: SetFacts) -> list[Any]:
    match field:
        case "task" | "operation" | "reason":
            return [*getattr(facts, f"{field}s")]
        case "priority":
            return [_RANKS.index(facts.priority.name)]
        case _:
            value = getattr(facts, field)
            return ["" if value is None else value]


def _as_expression(pattern: str) -> re.Pattern[str]:
    pieces = {"%": ".*", "_": "."}
    return re.compile("".join(pieces.get(letter, re.escape(letter)) for letter in pattern), re.DOTALL)


# Few words, so that comparisons often hold.
_WORDS = st.sampled_from(["", "a", "b", "ab", "A"])
_JOB_IDS = st.integers(0, 3)
_OPERANDS: dict[str, st.SearchStrategy[Any]] = {
    "job_id": _JOB_IDS | st.just("watermark"),
    "priority": st.sampled_from(_RANKS),
}
_ORDERED = ["=", "!=", "<", "<=", ">", ">="]


def comparisons() -> st.SearchStrategy[Form]:
    fields = ["job_id", "user", "submitter", "group", "priority", "task", "operation", "reason"]
    return st.sampled_from(fields).flatmap(_comparisons_of)


def _comparisons_of(field: str) -> st.SearchStrategy[Form]:
    operands = _OPERANDS.get(field, _WORDS)
    forms = [
        st.builds(compare, st.just(field), st.sampled_from(_ORDERED), operands),
        st.builds(compare, st.just(field), st.just("in"), st.lists(operands, min_size=1, max_size=3)),
    ]
    if field not in _OPERANDS:
        patterns = st.text("ab%_", max_size=4)
        forms.append(st.builds(compare, st.just(field), st.just("like"), patterns))
    return st.one_of(forms)


def forms() -> st.SearchStrategy[Form]:
    """Return a strategy of valid forms in canonical form."""
    return st.recursive(comparisons(), _joined, max_leaves=8)


def _joined(children: st.SearchStrategy[Form]) -> st.SearchStrategy[Form]:
    words = st.sampled_from(["and", "or", "not"])
    inner = st.lists(children, min_size=1, max_size=3)
    return st.builds(lambda word, forms: {word: forms}, words, inner)


def facts() -> st.SearchStrategy[SetFacts]:
    several = st.lists(_WORDS, max_size=2).map(tuple)
    return st.builds(
        SetFacts,
        job_id=_JOB_IDS,
        user=_WORDS,
        submitter=_WORDS,
        group=_WORDS | st.none(),
        priority=st.sampled_from(Priority),
        tasks=several,
        operations=several,
        reasons=several,
    )
