"""Predicates of job filters: `--where "user = ada"`, and their text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cli.arguments.params import ParsedText
from domain.admission.predicates import OPERATORS, predicate_from_json

Form = dict[str, Any]

METAVAR = '"FIELD OP VALUE"'
# A run of signs is one operator, so that `==` is unknown. Words have boundaries, because `user=ada` needs no
# blanks.
_WORDS = "|".join(rf"\b{op}\b" for op in OPERATORS if op.isalpha())
_COMPARISON = re.compile(rf"\s*(?P<field>\w+)\s*(?P<op>{_WORDS}|[=!<>~]+)\s*(?P<value>.*?)\s*", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,10}")
_QUOTED = re.compile(r'"[^"]*"', re.DOTALL)
_COMMA_OUTSIDE_QUOTES = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')
_JUNCTION = re.compile(r"\s(and|or)\s", re.IGNORECASE)
_NEEDS_QUOTES = re.compile(r"[\s,]|^$")


def _comparison(text: str) -> Form:
    """Return the form of a comparison. The values of `in` are separated by commas."""
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise ValueError(f'must be {METAVAR}, as in "user = ada"; OP is one of {" ".join(OPERATORS)}')
    field, op, text_value = match.group("field", "op", "value")
    texts = _COMMA_OUTSIDE_QUOTES.split(text_value) if op == "in" else [text_value]
    values = [_value(field, each.strip()) for each in texts]
    form = {"field": field, "op": op, "value": values if op == "in" else values[0]}
    messages: list[str] = []
    predicate_from_json(form, (), lambda path, message: messages.append(message))
    if messages:
        raise ValueError("; ".join(messages))
    return form


def _value(field: str, text: str) -> Any:
    """Return a job id as a number; other values are texts, with or without double quotes."""
    if _QUOTED.fullmatch(text):
        return text[1:-1]
    if not text:
        raise ValueError('a value is missing; "" is the empty text')
    junction = _JUNCTION.search(text)
    if junction:
        raise ValueError(
            f"must be one comparison: use --predicate for {junction[1].lower()},"
            " or write a text with that word in double quotes"
        )
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
        shown = map(_shown, value if isinstance(value, list) else [value])
        return f"{form['field']} {form['op']} {', '.join(shown)}"
    ((word, children),) = form.items()
    parts = [_inner(child) for child in children]
    return f"not ({' and '.join(parts)})" if word == "not" else f" {word} ".join(parts)


def _shown(value: object) -> str:
    """Return a value as `--where` reads it: a text with blanks or commas in double quotes."""
    return f'"{value}"' if _NEEDS_QUOTES.search(str(value)) else str(value)


def _inner(form: Mapping[str, Any]) -> str:
    """Return the text of a part, in brackets if it has several parts itself."""
    text = _text(form)
    return f"({text})" if len(form.get("and", form.get("or", ()))) > 1 else text


def action_of(row: Mapping[str, Any]) -> str:
    """Return the action of a job filter, with its limit."""
    return f"{row['action']} {row['limit']}" if row.get("limit") is not None else str(row["action"])
