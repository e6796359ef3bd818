"""Predicates of job filters: their answers, and the faults of their forms."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.admission.predicates import (
    FIELDS,
    MAX_DEPTH,
    MAX_PREDICATE_BYTES,
    OPERATORS,
    SetFacts,
    matcher,
    predicate_from_json,
    predicate_to_json,
)
from tests.domain.admission.findings import faulty, valid
from tests.domain.admission.predicates import (
    FACTS,
    NOTHING,
    Form,
    compare,
    facts,
    forms,
    matches,
    plain_answer,
)


def faults_of(form: Any) -> list[tuple[str, str]]:
    return faulty(lambda path, report: predicate_from_json(form, path, report))


COMPARISONS = [
    (compare("job_id", "=", 17), True),
    (compare("job_id", "!=", 17), False),
    (compare("job_id", "<", 18), True),
    (compare("job_id", "<=", 17), True),
    (compare("job_id", ">", 17), False),
    (compare("job_id", ">=", 17), True),
    # As numbers, not as texts.
    (compare("job_id", ">", 9), True),
    (compare("job_id", "in", [1, 17]), True),
    (compare("job_id", "in", [1]), False),
    (compare("user", "=", "ada"), True),
    (compare("submitter", "=", "ada"), False),
    (compare("submitter", "in", ["ada", "bob"]), True),
    # Case counts.
    (compare("user", "=", "Ada"), False),
    (compare("user", "in", ["ADA"]), False),
    (compare("user", "like", "A%"), False),
    (compare("user", "like", "a%"), True),
    (compare("user", "like", "_da"), True),
    (compare("user", "like", "_d"), False),
    # A pattern without wildcards is the whole text.
    (compare("user", "like", "ad"), False),
    # Texts by code points: capital letters first.
    (compare("user", "<", "b"), True),
    (compare("user", ">", "Z"), True),
    (compare("group", "=", "qe"), True),
    # By rank, not by name.
    (compare("priority", ">", "Normal"), True),
    (compare("priority", ">", "Low"), True),
    (compare("priority", "<", "Urgent"), True),
    (compare("priority", ">=", "High"), True),
    (compare("priority", ">", "High"), False),
    (compare("priority", "in", ["Low", "High"]), True),
    # Any of several values.
    (compare("task", "=", "/check"), True),
    (compare("task", "like", "/disk/%"), True),
    (compare("task", "=", "/disk"), False),
    # No value is equal.
    (compare("task", "!=", "/check"), False),
    (compare("task", "!=", "/disk"), True),
    ({"not": compare("task", "=", "/check")}, False),
    (compare("operation", "!=", "storage-move"), False),
    (compare("reason", "in", ["weekly", "nightly"]), True),
]


@pytest.mark.parametrize(("form", "expected"), COMPARISONS)
def test_predicate__one_comparison__answer_of_table(form: Form, expected: bool) -> None:
    assert matches(form) is expected


@pytest.mark.parametrize("field", ["task", "operation", "reason"])
@pytest.mark.parametrize("op", OPERATORS)
def test_predicate__fact_without_values__is_true_for_unequal_alone(field: str, op: str) -> None:
    value = ["a"] if op == "in" else "%" if op == "like" else "a"
    assert matches(compare(field, op, value), NOTHING) == (op == "!=")


def test_predicate__job_without_group__compares_as_empty_text() -> None:
    assert matches(compare("group", "=", ""), NOTHING)
    assert matches(compare("group", "!=", "qe"), NOTHING)
    assert not matches(compare("group", "=", ""))


WATERMARKS = [
    ("=", [20]),
    ("<=", [19, 20]),
    (">", [21]),
    ("!=", [19, 21]),
]


@pytest.mark.parametrize(("op", "job_ids"), WATERMARKS)
def test_predicate__watermark__stands_for_that_of_the_filter(op: str, job_ids: list[int]) -> None:
    form = compare("job_id", op, "watermark")
    assert [job for job in (19, 20, 21) if matches(form, FACTS._replace(job_id=job), 20)] == job_ids


def test_predicate__watermark_among_several__stands_for_that_of_the_filter() -> None:
    form = compare("job_id", "in", ["watermark", 3])
    assert [job for job in (3, 19, 20) if matches(form, FACTS._replace(job_id=job), 20)] == [3, 20]


def test_predicate__user_named_watermark__is_no_number() -> None:
    assert matches(compare("user", "=", "watermark"), FACTS._replace(user="watermark"))


TRUE, FALSE = compare("job_id", "=", 17), compare("job_id", "=", 18)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"and": [TRUE, TRUE]}, True),
        ({"and": [TRUE, FALSE]}, False),
        ({"or": [FALSE, TRUE]}, True),
        ({"or": [FALSE, FALSE]}, False),
        ({"not": FALSE}, True),
        ({"not": [TRUE]}, False),
        # Not all of them hold.
        ({"not": [TRUE, FALSE]}, True),
        ({"not": [TRUE, TRUE]}, False),
        ({"and": [{"or": [FALSE, TRUE]}, {"not": {"and": [TRUE, FALSE]}}]}, True),
    ],
)
def test_predicate__joined__answer_of_table(form: Form, expected: bool) -> None:
    assert matches(form) is expected


@given(forms(), facts(), st.integers(0, 3))
def test_predicate__any_form_and_facts__answers_as_going_through_the_form(
    form: Form, about: SetFacts, watermark: int
) -> None:
    assert matches(form, about, watermark) is plain_answer(form, about, watermark)


@given(forms())
def test_predicate__written_and_read_again__is_equal(form: Form) -> None:
    predicate = valid(lambda path, report: predicate_from_json(form, path, report))
    assert predicate_to_json(predicate) == form


def test_predicate__two_forms_of_not__are_equal() -> None:
    one = valid(lambda path, report: predicate_from_json({"not": TRUE}, path, report))
    assert predicate_to_json(one) == {"not": [TRUE]}


def test_matcher__no_predicate__matches_everybody() -> None:
    assert matcher(None, 0)(FACTS) and matcher(None, 0)(NOTHING)


SHAPE = "must be an object with field, op and value, or with one of and, or, not"
A_JOB_ID = 'must be a whole number or "watermark"'
A_PRIORITY = "must be one of Low, Medium, Normal, High, Urgent"
OF_TEXTS = "must be one of = != < <= > >= in like"
OF_NUMBERS = "must be one of = != < <= > >= in"

FAULTY: list[tuple[Any, str, str]] = [
    (7, "", "must be an object with field, op and value, or with one of and, or, not"),
    (None, "", "must be an object with field, op and value, or with one of and, or, not"),
    ({}, "", SHAPE),
    ({"xor": [TRUE]}, "", SHAPE),
    ({"and": [TRUE], "or": [TRUE]}, "", SHAPE),
    ({"and": []}, "and", "must not be empty"),
    ({"or": []}, "or", "must not be empty"),
    ({"not": []}, "not", "must not be empty"),
    ({"and": TRUE}, "and", "must be a list"),
    ({"not": "ada"}, "not", "must be a list"),
    (compare("owner", "=", "ada"), "field", f'unknown field "owner"; must be one of {", ".join(FIELDS)}'),
    (compare("user", "==", "ada"), "op", f'unknown operator "=="; {OF_TEXTS}'),
    (compare("user", "=~", "ada"), "op", f'unknown operator "=~"; {OF_TEXTS}'),
    # Only texts have patterns.
    (compare("job_id", "like", 17), "op", f"like is not for job_id; {OF_NUMBERS}"),
    (compare("priority", "like", "High"), "op", f"like is not for priority; {OF_NUMBERS}"),
    # A text in place of a number, and the other way round.
    (compare("job_id", "=", "17"), "value", A_JOB_ID),
    (compare("job_id", "<", "Watermark"), "value", A_JOB_ID),
    (compare("job_id", "in", [17, "18"]), "value[1]", A_JOB_ID),
    (compare("job_id", "=", True), "value", A_JOB_ID),
    (compare("job_id", "=", 17.0), "value", A_JOB_ID),
    (compare("job_id", "=", None), "value", A_JOB_ID),
    (compare("job_id", "=", -1), "value", "must be a whole number from 0 to 2147483647"),
    (compare("job_id", "=", 2**31), "value", "must be a whole number from 0 to 2147483647"),
    (compare("user", "=", 17), "value", "must be text"),
    (compare("user", "like", ["a%"]), "value", "must be text"),
    (compare("user", "=", "a\0"), "value", "must not contain control characters"),
    (compare("user", "=", "\ud800"), "value", "must not contain control characters"),
    (compare("priority", ">", "high"), "value", A_PRIORITY),
    (compare("priority", ">", 3), "value", A_PRIORITY),
    (compare("user", "in", "ada"), "value", "must be a list"),
    (compare("user", "in", []), "value", "must not be empty"),
    (compare("user", "in", ["ada", 7]), "value[1]", "must be text"),
    ({"field": "user", "op": "="}, "value", "is missing"),
    ({"field": "user", "value": "ada"}, "op", "is missing"),
    ({**TRUE, "field": 7}, "field", f'unknown field "7"; must be one of {", ".join(FIELDS)}'),
    ({**TRUE, "op": ["="]}, "op", f"unknown operator \"['=']\"; {OF_NUMBERS}"),
    ({**TRUE, "and": []}, "and", "is unknown; the fields are field, op, value"),
]


@pytest.mark.parametrize(("form", "place", "message"), FAULTY)
def test_faults__one_fault__is_found_at_its_place(form: Any, place: str, message: str) -> None:
    assert faults_of(form) == [(place, message)]


def test_faults__several_parts__all_are_found() -> None:
    form = {
        "and": [
            compare("owner", "=~", 7),
            {"not": {"or": [compare("job_id", "~", ["17", 18]), {"nand": []}, TRUE]}},
            {"field": "job_id", "value": "17", "extra": 1},
        ]
    }
    assert [place for place, _ in faults_of(form)] == [
        "and[0].field",
        "and[0].op",
        "and[1].not.or[0].op",
        "and[1].not.or[0].value[0]",
        "and[1].not.or[1]",
        "and[2].extra",
        "and[2].op",
        "and[2].value",
    ]


def nested(levels: int, inner: Any = TRUE) -> Any:
    for level in range(levels):
        inner = {"not": inner} if level % 2 else {"and": [inner]}
    return inner


def test_faults__nested_as_deep_as_allowed__none() -> None:
    assert faults_of(nested(MAX_DEPTH)) == []


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 2_000])
def test_faults__nested_deeper__one(levels: int) -> None:
    ((_, message),) = faults_of(nested(levels))
    assert message == "is nested deeper than 20 levels"


def of_size(size: int) -> Form:
    """Return a form of this size as compact JSON in UTF-8."""
    form: Form = {"or": [TRUE, {"not": compare("user", "in", ["é", "b"])}, compare("user", "=", "")]}
    compact = json.dumps(form, ensure_ascii=False, separators=(",", ":"))
    form["or"][2]["value"] = "a" * (size - len(compact.encode()))
    return form


def test_faults__as_large_as_allowed__none() -> None:
    assert faults_of(of_size(MAX_PREDICATE_BYTES)) == []


def test_faults__larger__one() -> None:
    assert faults_of(of_size(MAX_PREDICATE_BYTES + 1)) == [("", "is larger than 65536 bytes")]


def test_faults__larger_with_other_faults__all() -> None:
    form = {"and": [of_size(MAX_PREDICATE_BYTES), compare("user", "=", 7)]}
    assert [place for place, _ in faults_of(form)] == ["", "and[1].value"]
