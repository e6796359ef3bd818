"""`--where` of job filters, and the text of predicates."""

from __future__ import annotations

from typing import Any

import click
import pytest

from cli.arguments.predicates import COMPARISON, all_of, predicate_text
from domain.admission.predicates import FIELDS, OPERATORS

READ: list[tuple[str, str, str, Any]] = [
    ("user = ada", "user", "=", "ada"),
    ("user=ada", "user", "=", "ada"),
    (" priority>=High ", "priority", ">=", "High"),
    ('group != ""', "group", "!=", ""),
    ('reason = "this or that"', "reason", "=", "this or that"),
    ('reason in "a, b", "", c', "reason", "in", ["a, b", "", "c"]),
    ("task = /sand or", "task", "=", "/sand or"),
    ("task like /kernel/%", "task", "like", "/kernel/%"),
    ("task in /a, /b", "task", "in", ["/a", "/b"]),
    ("reason = in a=b", "reason", "=", "in a=b"),
    ("job_id > watermark", "job_id", ">", "watermark"),
    ("job_id in 7, watermark", "job_id", "in", [7, "watermark"]),
    ("group = 7", "group", "=", "7"),
]


@pytest.mark.parametrize(("given", "field", "op", "value"), READ)
def test_where__comparison__is_a_predicate(given: str, field: str, op: str, value: Any) -> None:
    form = COMPARISON.convert(given, None, None)
    assert form == {"field": field, "op": op, "value": value}
    assert COMPARISON.convert(predicate_text(form), None, None) == form


@pytest.mark.parametrize("op", OPERATORS)
def test_where__every_operator__is_read(op: str) -> None:
    assert COMPARISON.convert(f"user {op} x", None, None)["op"] == op


@pytest.mark.parametrize("field", FIELDS)
def test_where__every_field__is_read(field: str) -> None:
    value = {"job_id": 7, "priority": "Low"}.get(field, "x")
    assert COMPARISON.convert(f"{field} = {value}", None, None)["value"] == value


WRONG = [
    *((given, 'must be "FIELD OP VALUE"') for given in ("", "user", "= ada", "user is ada")),
    *((f"task {op} /x", f'unknown operator "{op}"; must be one of = !=') for op in ("==", "=~", "~", "<>")),
    *((given, "a value is missing") for given in ("task = ", "task in", "user in a,,b", "user in a,")),
    *((f"task = a {word} task = b", "must be one comparison: use --predicate") for word in ("or", "AND")),
    ("colour = red", 'unknown field "colour"; must be one of job_id, user'),
    ("job_id like 3", "like is not for job_id; must be one of = !="),
    ("priority like H%", "like is not for priority; must be one of = !="),
    ("job_id = seven", 'must be a whole number or "watermark"'),
    ("priority = 3", "must be one of Low, Medium"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_where__wrong__says_what_would_be_right(given: str, message: str) -> None:
    with pytest.raises(click.BadParameter) as raised:
        COMPARISON.convert(given, None, None)
    assert raised.value.message.startswith(f"{given!r}: {message}")


ADA, BOB = ({"field": "user", "op": "=", "value": name} for name in ("ada", "bob"))
TEXTS: list[tuple[Any, str]] = [
    (None, "all"),
    (ADA, "user = ada"),
    ({"and": [ADA]}, "user = ada"),
    ({"field": "reason", "op": "=", "value": "a or b"}, 'reason = "a or b"'),
    ({"and": [ADA, {"or": [ADA, BOB]}]}, "user = ada and (user = ada or user = bob)"),
    ({"or": [{"and": [ADA, BOB]}, BOB]}, "(user = ada and user = bob) or user = bob"),
    ({"not": [ADA]}, "not (user = ada)"),
    ({"not": [ADA, {"or": [BOB]}]}, "not (user = ada and user = bob)"),
    ({"and": [{"not": [ADA]}, BOB]}, "not (user = ada) and user = bob"),
]


@pytest.mark.parametrize(("form", "text"), TEXTS)
def test_text__of_nested_predicates__has_the_needed_brackets(form: Any, text: str) -> None:
    assert predicate_text(form) == text


def test_all_of__none_one_and_several__are_joined_by_and() -> None:
    assert [all_of(forms) for forms in ([], [ADA], [ADA, BOB])] == [None, ADA, {"and": [ADA, BOB]}]
