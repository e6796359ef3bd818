"""Job filters: the filter that applies to a recipe set, and the faults of their documents."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.admission.job_filters import (
    ACTIONS,
    JobFilter,
    JobFilters,
    job_filter_from_json,
    job_filter_to_json,
)
from domain.admission.predicates import SetFacts
from tests.domain.admission.findings import faulty, valid
from tests.domain.admission.predicates import FACTS, compare, facts, forms, plain_answer

OF_ADA = compare("user", "=", "ada")
OF_EVE = compare("user", "=", "eve")


def put(name: str, watermark: int = 0, **document: Any) -> JobFilter:
    """Return a job filter; without an action it pauses sets."""
    return valid(
        lambda path, report: job_filter_from_json(
            name, watermark, {"action": "PAUSE", **document}, path, report
        )
    )


def applying(*filters: JobFilter, about: SetFacts = FACTS) -> str | None:
    found = JobFilters(filters).applying(about)
    return found.name if found else None


ORDERS = [
    # The lowest priority, then the oldest watermark, then the name.
    (put("b", priority=0), put("a", priority=1)),
    (put("b", 1, priority=0), put("a", 0, priority=1)),
    (put("b", 9), put("a", 10)),
    (put("a", 9), put("b", 9)),
    # By code points.
    (put("B"), put("a")),
]


@pytest.mark.parametrize(("first", "second"), ORDERS)
def test_applying__two_that_match__is_the_first_in_order(first: JobFilter, second: JobFilter) -> None:
    assert JobFilters([second, first]).ordered == (first, second)
    assert applying(second, first) == applying(first, second) == first.name


@pytest.mark.parametrize("action", ["ACCEPT", "PAUSE", "REJECT", "RATE_LIMIT"])
def test_applying__later_one_matches_too__is_not_looked_at(action: str) -> None:
    limit = {"limit": 5} if action == "RATE_LIMIT" else {}
    assert applying(put("a", action=action, **limit), put("b", action="REJECT")) == "a"


def test_applying__continue_first__is_the_next_that_matches() -> None:
    skipped = put("a", action="CONTINUE")
    assert applying(skipped, put("b", action="RATE_LIMIT", limit=2), put("c")) == "b"
    assert applying(skipped) is None


def test_applying__first_does_not_match__is_the_next_that_matches() -> None:
    assert applying(put("a", predicate=OF_EVE), put("b", predicate=OF_ADA), put("c")) == "b"
    assert applying(put("a", predicate=OF_EVE)) is None
    assert applying() is None


def test_applying__own_watermark__counts_in_each_filter() -> None:
    newer = compare("job_id", ">", "watermark")
    filters = [put("a", 17, predicate=newer), put("b", 18, predicate=newer, action="REJECT")]
    found = [applying(*filters, about=FACTS._replace(job_id=job)) for job in (17, 18, 19)]
    assert found == [None, "a", "a"]
    assert applying(put("a", 18, predicate=newer), about=FACTS._replace(job_id=18)) is None


FILTERS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from(ACTIONS), st.none() | forms()), max_size=4
)


@given(FILTERS, facts())
def test_applying__any_filters__is_found_by_going_through_them(
    rows: list[tuple[int, int, str, Any]], about: SetFacts
) -> None:
    filters, effective = [], []
    for number, (priority, watermark, action, form) in enumerate(rows):
        limit = 1 if action == "RATE_LIMIT" else None
        name = f"filter-{number}"
        filters.append(put(name, watermark, priority=priority, action=action, predicate=form, limit=limit))
        if action != "CONTINUE" and (form is None or plain_answer(form, about, watermark)):
            effective.append((priority, watermark, name))
    assert applying(*filters, about=about) == min(effective, default=(0, 0, None))[2]


def test_document__action_alone__has_defaults() -> None:
    assert put("a", 3) == JobFilter("a", 0, 3, None, "PAUSE", None, "")
    assert put("a", 3) == put("a", 3, priority=0, predicate=None, limit=None, reason="")


def test_document__written_and_read_again__is_equal() -> None:
    whole: dict[str, Any] = {
        "priority": 4,
        "predicate": {"and": [OF_ADA, {"not": [OF_EVE]}]},
        "action": "RATE_LIMIT",
        "limit": 2,
        "reason": "one storage array",
    }
    assert job_filter_to_json(put("a", **whole)) == whole
    assert put("a", 3, **job_filter_to_json(put("a", 3))) == put("a", 3)


def test_stated_reason__with_and_without__is_never_empty() -> None:
    assert put("night", reason="no jobs at night").stated_reason == "no jobs at night"
    assert put("night").stated_reason == 'job filter "night"'


WORDS = "must be one of ACCEPT, CONTINUE, PAUSE, REJECT, RATE_LIMIT"
RATE = {"action": "RATE_LIMIT"}

FAULTY = [
    ([], [("", "must be an object")]),
    ({}, [("action", f"is missing; {WORDS}")]),
    ({"action": "pause"}, [("action", WORDS)]),
    ({"action": None}, [("action", WORDS)]),
    ({"action": ["PAUSE"]}, [("action", WORDS)]),
    # RATE_LIMIT without a limit above 0.
    (RATE, [("limit", "is missing: RATE_LIMIT needs a limit above 0")]),
    ({**RATE, "limit": None}, [("limit", "is missing: RATE_LIMIT needs a limit above 0")]),
    ({**RATE, "limit": 0}, [("limit", "must be a whole number from 1 to 2147483647")]),
    ({**RATE, "limit": -1}, [("limit", "must be a whole number from 1 to 2147483647")]),
    ({**RATE, "limit": "5"}, [("limit", "must be a whole number from 1 to 2147483647")]),
    ({**RATE, "limit": True}, [("limit", "must be a whole number from 1 to 2147483647")]),
    ({"action": "PAUSE", "limit": 5}, [("limit", "is only for RATE_LIMIT")]),
    ({"action": "PAUSE", "priority": -1}, [("priority", "must be a whole number from 0 to 2147483647")]),
    ({"action": "PAUSE", "priority": "High"}, [("priority", "must be a whole number from 0 to 2147483647")]),
    ({"action": "PAUSE", "reason": 7}, [("reason", "must be text")]),
    ({"action": "PAUSE", "reason": "\0"}, [("reason", "must not contain control characters")]),
    ({"action": "PAUSE", "reason": "a" * 4_097}, [("reason", "must not be longer than 4096 characters")]),
    (
        {"action": "PAUSE", "name": "a"},
        [("name", "is unknown; the fields are priority, predicate, action, limit, reason")],
    ),
    ({"action": "PAUSE", "predicate": {"and": []}}, [("predicate.and", "must not be empty")]),
]


@pytest.mark.parametrize(("document", "found"), FAULTY)
def test_document__faulty__faults_of_table(document: Any, found: list[tuple[str, str]]) -> None:
    assert faulty(lambda path, report: job_filter_from_json("a", 0, document, path, report)) == found


def test_document__several_faults__all_are_found() -> None:
    document = {"priority": -1, "predicate": {"and": [compare("x", "=", 1), 7]}, "action": "x", "limit": 0}
    found = faulty(lambda path, report: job_filter_from_json("a", 0, document, path, report))
    assert [place for place, _ in found] == [
        "predicate.and[0].field",
        "predicate.and[1]",
        "priority",
        "action",
        "limit",
    ]
