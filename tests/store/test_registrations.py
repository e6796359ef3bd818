"""Present registrations of lab controllers."""

from __future__ import annotations

from store.event_log import EventLog
from store.registrations import UNNAMED, PartContents, Registrations

LAB = "lab-1"


def test_note__parts_of_one_instance__add_up(log: EventLog) -> None:
    registrations = Registrations(log)
    assert registrations.note(LAB, "one", PartContents(b"1", ["a", "b"], [("a", 12)])) == frozenset()
    assert (
        registrations.note(LAB, "one", PartContents(b"2", ["c"], [("a", 13), ("c", UNNAMED)])) == frozenset()
    )
    assert registrations.running(LAB) == {("a", 12), ("a", 13), ("c", UNNAMED)}
    assert registrations.running("lab-2") == frozenset()


def test_note__system_of_another_part__is_named_twice(log: EventLog) -> None:
    registrations = Registrations(log)
    registrations.note(LAB, "one", PartContents(b"1", ["a", "b"], []))
    assert registrations.note(LAB, "one", PartContents(b"2", ["b", "c"], [])) == {"b"}
    assert registrations.note("lab-2", "one", PartContents(b"2", ["b"], [])) == frozenset()


def test_note__same_part_again__names_nothing_twice(log: EventLog) -> None:
    registrations = Registrations(log)
    for _ in range(2):
        assert registrations.note(LAB, "one", PartContents(b"1", ["a", "b"], [("a", 12)])) == frozenset()
    assert registrations.running(LAB) == {("a", 12)}


def test_note__new_instance__begins_anew(log: EventLog) -> None:
    registrations = Registrations(log)
    registrations.note(LAB, "one", PartContents(b"1", ["a"], [("a", 12)]))
    registrations.note("lab-2", "one", PartContents(b"1", ["x"], [("x", 7)]))
    assert registrations.note(LAB, "two", PartContents(b"2", ["a"], [("a", 13)])) == frozenset()
    assert registrations.running(LAB) == {("a", 13)}
    assert registrations.running("lab-2") == {("x", 7)}
