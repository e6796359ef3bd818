"""Present registrations of lab controllers."""

from __future__ import annotations

from store.event_log import EventLog
from store.registrations import UNNAMED, Noted, PartContents, Registrations

LAB = "lab-1"
NEW = Noted(None, frozenset())


def test_note__parts_of_one_instance__add_up(log: EventLog) -> None:
    registrations = Registrations(log)
    assert registrations.note(LAB, "one", PartContents(b"1", ["a", "b"], [("a", 12)])) == NEW
    assert registrations.note(LAB, "one", PartContents(b"2", ["c"], [("a", 13), ("c", UNNAMED)])) == NEW
    assert registrations.running(LAB, "one") == {("a", 12), ("a", 13), ("c", UNNAMED)}


def test_running__registration_without_any__is_empty(log: EventLog) -> None:
    registrations = Registrations(log)
    registrations.note(LAB, "one", PartContents(b"1", ["a"], []))
    assert registrations.running(LAB, "one") == frozenset()
    assert registrations.running("lab-2", "one") is None


def test_note__system_of_another_part__is_named_twice(log: EventLog) -> None:
    registrations = Registrations(log)
    registrations.note(LAB, "one", PartContents(b"1", ["a", "b"], []))
    assert registrations.note(LAB, "one", PartContents(b"2", ["b", "c"], [])).named_twice == {"b"}
    assert registrations.note("lab-2", "one", PartContents(b"2", ["b"], [])) == NEW


def test_note__same_part_again__names_nothing_twice(log: EventLog) -> None:
    registrations = Registrations(log)
    for _ in range(2):
        assert registrations.note(LAB, "one", PartContents(b"1", ["a", "b"], [("a", 12)])) == NEW
    assert registrations.running(LAB, "one") == {("a", 12)}


def test_note__new_instance__begins_anew(log: EventLog) -> None:
    registrations = Registrations(log)
    registrations.note(LAB, "one", PartContents(b"1", ["a"], [("a", 12)]))
    registrations.note("lab-2", "one", PartContents(b"1", ["x"], [("x", 7)]))
    assert registrations.note(LAB, "two", PartContents(b"2", ["a"], [("a", 13)])) == NEW
    assert registrations.running(LAB, "one") is None
    assert registrations.running(LAB, "two") == {("a", 13)}
    assert registrations.running("lab-2", "one") == {("x", 7)}


def test_note__instance_that_was_replaced__has_no_effect(log: EventLog) -> None:
    registrations = Registrations(log)
    late = PartContents(b"1", ["a"], [("a", 12)])
    registrations.note(LAB, "one", late)
    registrations.note(LAB, "two", PartContents(b"2", ["b"], [("b", 13)]))
    assert registrations.note(LAB, "one", late) == Noted("two", frozenset())
    assert registrations.running(LAB, "two") == {("b", 13)}
    assert registrations.note("lab-2", "one", late) == NEW
    assert registrations.note(LAB, "three", late) == NEW
    assert registrations.note(LAB, "two", late) == Noted("three", frozenset())
