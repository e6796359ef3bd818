"""Faults of access policies, and the normalised form of valid ones."""

from __future__ import annotations

from typing import Any

import pytest

from domain.access.policy import PolicyEntry
from domain.access.validation import faults_of, normalised, without
from domain.priority import Priority

VIEW = {"permission": "view"}
NOBODY = 'names nobody; an entry must have one of "user", "group" and "everybody": true'
BOTH = 'names user and group; an entry must have one of "user", "group" and "everybody": true'


def exists(kind: str, name: str) -> bool:
    return (kind, name) in {("user", "bob"), ("group", "qa")}


def test_faults__of_all_entries__each_at_its_place() -> None:
    entries: list[dict[str, Any]] = [
        VIEW,
        {**VIEW, "user": "bob", "group": "qa"},
        {**VIEW, "user": "eve", "group": None, "everybody": False},
        {**VIEW, "group": "bob", "maximum_effective_priority": "High"},
        {**VIEW, "everybody": True},
        {"permission": "submit", "group": "qa", "maximum_effective_priority": "High"},
    ]
    assert [(fault.where, fault.message) for fault in faults_of(entries, exists)] == [
        ("entries[0]", NOBODY),
        ("entries[1]", BOTH),
        ("entries[2].user", 'there is no user "eve"'),
        ("entries[3].group", 'there is no group "bob"'),
        ("entries[3].maximum_effective_priority", "is only for the permission submit"),
    ]


SUBMIT = {"permission": "submit", "group": "qa"}
MAXIMUM = "maximum_effective_priority"


@pytest.mark.parametrize(
    ("entries", "kept"),
    [
        # Equal entries, with and without the optional fields.
        ([{**VIEW, "user": "bob"}, {**VIEW, "user": "bob", "group": None, "everybody": False}], 1),
        ([{**VIEW, "user": "bob"}, {**VIEW, "everybody": True}], 2),
    ],
)
def test_normalised__equal_entries__one_remains(entries: list[dict[str, Any]], kept: int) -> None:
    assert len(normalised(entries)) == kept


@pytest.mark.parametrize(
    ("maxima", "kept"),
    [(["Low", "High", "Medium"], "High"), ([None], "Urgent"), (["Low", None], "Urgent"), (["Low"], "Low")],
)
def test_normalised__several_maxima__highest_remains(maxima: list[str | None], kept: str) -> None:
    entries = [*({**SUBMIT, MAXIMUM: maximum} for maximum in maxima), {**VIEW, "everybody": True}]
    assert normalised(entries) == [{**VIEW, "everybody": True}, {**SUBMIT, MAXIMUM: kept}]


def test_normalised__any_order__is_canonical() -> None:
    entries = [{**SUBMIT, MAXIMUM: "Low"}, {**VIEW, "user": "bob"}, {**VIEW, "group": "qa"}]
    assert normalised(entries) == normalised(entries[::-1])


def test_without__user__drops_entries_of_user() -> None:
    policy = (
        PolicyEntry("view", "bob"),
        PolicyEntry("view", group="bob"),
        PolicyEntry("submit", "bob", None, Priority.Low),
    )
    assert without(policy, "user", "bob") == (PolicyEntry("view", group="bob"),)
