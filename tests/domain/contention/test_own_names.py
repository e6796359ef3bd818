"""Own names of a recipe in declared locks, before the grant and from the grant on."""

from __future__ import annotations

import pytest
from hypothesis import given

from domain.contention.algebra import covers
from domain.contention.documents import locks_from_json, locks_to_json
from domain.contention.locks import NO_LOCKS, UNKNOWN, Locks, Part
from domain.contention.own_names import OwnNames, placed, unplaced, with_guests
from tests.domain.contention.strategies import locks

OWN = OwnNames("s1.example", "lab.example", ("p1", "p2"), ("g1",))

DECLARED = [
    # Declared, before the grant, from the grant on.
    (
        {"system": {"Exclusive": ["$system"]}},
        {"system": "UnknownExclusive"},
        {"system": {"Exclusive": ["s1.example"]}},
    ),
    (
        {"network": {"Shared": ["$lab"]}},
        {"network": "UnknownShared"},
        {"network": {"Shared": ["lab.example"]}},
    ),
    ({"pool": {"Shared": ["$pools"]}}, {"pool": "UnknownShared"}, {"pool": {"Shared": ["p1", "p2"]}}),
    # Guests have their names from the submission on.
    (
        {"guest": {"Exclusive": ["$guests"]}},
        {"guest": {"Exclusive": ["g1"]}},
        {"guest": {"Exclusive": ["g1"]}},
    ),
    # An unknown name makes the whole part Unknown.
    (
        {"system": {"Exclusive": ["$system", "x"]}},
        {"system": "UnknownExclusive"},
        {"system": {"Exclusive": ["s1.example", "x"]}},
    ),
    # The real names show what the exclusive part covers.
    (
        {"system": [{"Shared": ["s1.example", "x"]}, {"Exclusive": ["$system"]}]},
        {"system": [{"Shared": ["s1.example", "x"]}, "UnknownExclusive"]},
        {"system": [{"Shared": ["x"]}, {"Exclusive": ["s1.example"]}]},
    ),
    # Other names, and Unknown, stay.
    ({"system": "UnknownShared"}, {"system": "UnknownShared"}, {"system": "UnknownShared"}),
    ({"system": {"Shared": ["$x"]}}, {"system": {"Shared": ["$x"]}}, {"system": {"Shared": ["$x"]}}),
    ({"whole_lab": True}, {"whole_lab": True}, {"whole_lab": True}),
]


@pytest.mark.parametrize(("declared", "before", "after"), DECLARED)
def test_own_names__of_a_recipe__are_unknown_until_the_grant(
    declared: object, before: object, after: object
) -> None:
    given_locks = locks_from_json(declared, "locks")
    assert locks_to_json(unplaced(given_locks, OWN.guests)) == before
    assert locks_to_json(placed(given_locks, OWN)) == after


def test_own_names__recipe_has_no_pools_or_guests__lock_nothing() -> None:
    declared = locks_from_json({"pool": {"Shared": ["$pools"]}, "guest": {"Exclusive": ["$guests"]}}, "locks")
    assert placed(declared, OwnNames("s1", "lab")) == NO_LOCKS


@pytest.mark.parametrize("guests", [("g1", "g2"), UNKNOWN, ()])
def test_with_guests__at_the_submission__replaces_guests_alone(guests: Part) -> None:
    declared = locks_from_json({"guest": {"Exclusive": ["$guests"]}, "pool": {"Shared": ["$pools"]}}, "locks")
    found = with_guests(declared, guests)
    assert found.levels[1].exclusive == guests
    assert found.levels[0] == declared.levels[0]


def test_placed__pool_with_the_name_of_an_own_name__is_not_replaced_again() -> None:
    declared = locks_from_json({"pool": {"Shared": ["$pools"]}}, "locks")
    assert placed(declared, OwnNames("s1", "lab", ("$system",))).levels[0].shared == ("$system",)


@given(locks)
def test_own_names__locks_without_them__stay(declared: Locks) -> None:
    assert unplaced(declared) == declared
    assert placed(declared, OWN) == declared


@pytest.mark.parametrize("declared", [row[0] for row in DECLARED])
def test_placed__of_a_declaration__takes_nothing_beyond_the_unplaced_one(declared: object) -> None:
    given_locks = locks_from_json(declared, "locks")
    assert covers(unplaced(given_locks, OWN.guests), placed(given_locks, OWN))
