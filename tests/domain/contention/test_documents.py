"""Locks as JSON: every kind, every alias, every fault."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from domain.contention.cells import KINDS
from domain.contention.documents import locks_from_json, locks_to_json, stored_locks
from domain.contention.locks import ALL, LEVELS, NO_LOCKS, UNKNOWN, LevelLock, Locks
from domain.errors import FaultyInput
from tests.domain.contention.seed_table import SEED_KINDS
from tests.domain.contention.strategies import locks

FORMS = [
    ("None", LevelLock()),
    ({"Shared": ["a"]}, LevelLock(("a",))),
    ("UnknownShared", LevelLock(UNKNOWN)),
    ("AllShared", LevelLock(ALL)),
    ({"Exclusive": ["a"]}, LevelLock((), ("a",))),
    ("UnknownExclusive", LevelLock((), UNKNOWN)),
    ("AllExclusive", LevelLock((), ALL)),
    # Names are sorted, and named once.
    ({"Shared": ["b", "a", "b"]}, LevelLock(("a", "b"))),
    # Two locks.
    (["AllShared", {"Exclusive": ["a"]}], LevelLock(ALL, ("a",))),
    ([{"Exclusive": ["a"]}, "AllShared"], LevelLock(ALL, ("a",))),
    ([{"Shared": ["a", "b"]}, {"Exclusive": ["a"]}], LevelLock(("b",), ("a",))),
    (["None", "UnknownShared"], LevelLock(UNKNOWN)),
    ([{"Shared": ["a"]}, {"Shared": ["b"]}], LevelLock(("a", "b"))),
]


@pytest.mark.parametrize(("form", "expected"), FORMS)
@pytest.mark.parametrize("level", LEVELS)
def test_locks__of_each_form_at_each_level__are_read(level: str, form: object, expected: LevelLock) -> None:
    found = locks_from_json({level: form}, "locks")
    assert dict(zip(LEVELS, found.levels, strict=True)) == {
        **dict.fromkeys(LEVELS, LevelLock()),
        level: expected,
    }
    assert locks_from_json(locks_to_json(found), "locks") == found


def test_kinds__of_documents__are_those_of_the_seed() -> None:
    assert list(KINDS) == SEED_KINDS


GANETI = [
    ("NodeGroup", "pool"),
    ("Instance", "guest"),
    ("Node", "system"),
    ("NodeRes", "system_resource"),
    ("Network", "network"),
]


@pytest.mark.parametrize(("alias", "level"), GANETI)
def test_alias__of_a_level__is_that_level(alias: str, level: str) -> None:
    assert locks_from_json({alias: "AllShared"}, "locks") == locks_from_json({level: "AllShared"}, "locks")
    assert locks_to_json(locks_from_json({alias: "AllShared"}, "locks")) == {level: "AllShared"}


def test_whole_lab__beside_levels__keeps_them() -> None:
    document = {"network": {"Exclusive": ["n"]}, "whole_lab": True}
    assert locks_to_json(locks_from_json(document, "locks")) == document
    assert locks_from_json({"whole_lab": False}, "locks") == NO_LOCKS


def test_no_locks__as_json__are_an_empty_object() -> None:
    assert locks_to_json(NO_LOCKS) == {}
    assert locks_from_json({}, "locks") == NO_LOCKS


@given(locks)
def test_locks__as_json_and_back__are_equal(given_locks: Locks) -> None:
    assert locks_from_json(locks_to_json(given_locks), "locks") == given_locks
    assert stored_locks(locks_to_json(given_locks)) == given_locks


def test_stored_locks__equal_documents__are_one_object() -> None:
    document = {"network": [{"Exclusive": ["a"]}, "AllShared"], "whole_lab": True}
    assert stored_locks(document) is stored_locks({**document})
    assert stored_locks(document) == locks_from_json(document, "locks")


FAULTS: list[tuple[Any, dict[str, str]]] = [
    (None, {"locks": "must be an object"}),
    (["AllShared"], {"locks": "must be an object"}),
    ({"rack": "AllShared"}, {"locks.rack": "unknown level; must be one of pool, guest, system"}),
    ({"Pool": "AllShared"}, {"locks.Pool": "unknown level"}),
    ({"pool": "Everything"}, {"locks.pool": "unknown kind; must be one of None, Shared, UnknownShared"}),
    ({"pool": "allshared"}, {"locks.pool": "unknown kind"}),
    ({"pool": None}, {"locks.pool": "unknown kind"}),
    ({"pool": 3}, {"locks.pool": "unknown kind"}),
    ({"pool": {"Sharing": ["a"]}}, {"locks.pool.Sharing": "unknown kind"}),
    (
        {"pool": "AllShared", "NodeGroup": "AllShared"},
        {"locks.NodeGroup": 'the level "pool" is given twice'},
    ),
    ({"Node": "None", "system": "None"}, {"locks.system": 'the level "system" is given twice'}),
    ({"pool": {"Shared": [""]}}, {"locks.pool.Shared[0]": "must not be empty"}),
    ({"pool": {"Shared": ["a", "  "]}}, {"locks.pool.Shared[1]": "must not be empty"}),
    ({"pool": {"Exclusive": ["a", 1]}}, {"locks.pool.Exclusive[1]": "must be a text"}),
    ({"pool": {"Exclusive": [None]}}, {"locks.pool.Exclusive[0]": "must be a text"}),
    ({"pool": {"Exclusive": ["a\x00"]}}, {"locks.pool.Exclusive[0]": "must not contain control characters"}),
    ({"pool": {"Exclusive": []}}, {"locks.pool.Exclusive": "at least one name"}),
    ({"pool": {"Exclusive": "a"}}, {"locks.pool.Exclusive": "must be a list"}),
    ({"pool": {"AllShared": ["a"]}}, {"locks.pool.AllShared": 'takes no names; write "AllShared"'}),
    ({"pool": {"UnknownExclusive": []}}, {"locks.pool.UnknownExclusive": "takes no names"}),
    ({"pool": {"None": ["a"]}}, {"locks.pool.None": "takes no names"}),
    ({"pool": "Shared"}, {"locks.pool": 'needs names, such as {"Shared": ["a"]}'}),
    ({"pool": {}}, {"locks.pool": "a lock has one kind"}),
    ({"pool": {"Shared": ["a"], "Exclusive": ["b"]}}, {"locks.pool": "write two locks as a list"}),
    ({"pool": ["AllShared"]}, {"locks.pool": "a list must have two locks"}),
    ({"pool": ["AllShared"] * 3}, {"locks.pool": "a list must have two locks"}),
    ({"pool": ["AllShared", "All"]}, {"locks.pool[1]": "unknown kind"}),
    ({"pool": ["AllShared", ["AllShared", "None"]]}, {"locks.pool[1]": "unknown kind"}),
    ({"whole_lab": "yes"}, {"locks.whole_lab": "must be true or false"}),
    ({"whole_lab": 1}, {"locks.whole_lab": "must be true or false"}),
    # All faults of a document are reported together.
    (
        {"rack": "None", "pool": {"Shared": ["", 1]}, "Node": "X", "whole_lab": None},
        {
            "locks.rack": "unknown level",
            "locks.pool.Shared[0]": "must not be empty",
            "locks.pool.Shared[1]": "must be a text",
            "locks.Node": "unknown kind",
            "locks.whole_lab": "must be true or false",
        },
    ),
]


@pytest.mark.parametrize(("document", "expected"), FAULTS)
def test_locks__faulty_document__has_every_fault_with_its_place(
    document: object, expected: dict[str, str]
) -> None:
    with pytest.raises(FaultyInput) as raised:
        locks_from_json(document, "locks")
    found = {fault.where: fault.message for fault in raised.value.faults}
    assert len(raised.value.faults) == len(expected)
    assert found.keys() == expected.keys()
    for where, message in expected.items():
        assert message in found[where]
