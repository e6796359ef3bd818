"""Predicates of job filters: `--where "user = ada"`, and their text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cli.arguments.params import ParsedText
from domain.admission.predicates import OPERATORS, predicate_from_json

Form = dict[str, Any]

METAVAR = '"FIELD OP VALUE"'
# Longer operators first, because `<` begins `<=`; words have boundaries, because `user=ada` needs no blanks.
_WORDS = "|".join(
    rf"\b{op}\b" if op.isalpha() else re.escape(op) for op in sorted(OPERATORS, key=len, reverse=True)
)
_COMPARISON = re.compile(rf"\s*(?P<field>\w+)\s*(?P<op>{_WORDS})\s*(?P<value>.*?)\s*", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,10}")


def _comparison(text: str) -> Form:
    """Return the form of a comparison. The values of `in` are separated by commas."""
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise ValueError(f'must be {METAVAR}, as in "user = ada"; OP is one of {" ".join(OPERATORS)}')
    field, op, text_value = match.group("field", "op", "value")
    values = [_value(field, each.strip()) for each in text_value.split(",")] if op == "in" else None
    form = {"field": field, "op": op, "value": _value(field, text_value) if values is None else values}
    messages: list[str] = []
    predicate_from_json(form, (), lambda path, message: messages.append(message))
    if messages:
        raise ValueError("; ".join(messages))
    return form


def _value(field: str, text: str) -> Any:
    """Return a job id as a number; other values are texts."""
    return int(text) if field == "job_id" and _NUMBER.fullmatch(text) else text


COMPARISON = ParsedText("comparison", _comparison)


def all_of(forms: Iterable[Form]) -> Form | None:
    """Return the predicate of several comparisons, which must all be true; None without any."""
    every = list(forms)
    return {"and": every} if len(every) > 1 else every[0] if every else None


def predicate_text(form: Mapping[str, Any] | None) -> str:
    """Return the text of a predicate: `user = ada and not (task like /kernel/%)`."""
    return "all" if form is None else _text(form)


def _text(form: Mapping[str, Any]) -> str:
    if "field" in form:
        value = form["value"]
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        return f"{form['field']} {form['op']} {shown}"
    ((word, children),) = form.items()
    parts = [_inner(child) for child in children]
    return f"not ({' and '.join(parts)})" if word == "not" else f" {word} ".join(parts)


def _inner(form: Mapping[str, Any]) -> str:
    """Return the text of a part, in brackets if it has several parts itself."""
    text = _text(form)
    return f"({text})" if len(form.get("and", form.get("or", ()))) > 1 else text


def action_of(row: Mapping[str, Any]) -> str:
    """Return the action of a job filter, with its limit."""
    return f"{row['action']} {row['limit']}" if row.get("limit") is not None else str(row["action"])
