"""Assertions that a log has no violations."""

from __future__ import annotations

from collections.abc import Iterable

from replay.audit import EventRecord, Violation, at_rest, check

SHOWN = 20


def assert_sound(records: Iterable[EventRecord]) -> None:
    fail_on(check(records))


def assert_at_rest(records: Iterable[EventRecord]) -> None:
    fail_on(at_rest(records))


def fail_on(violations: list[Violation]) -> None:
    shown = "\n".join(map(str, violations[:SHOWN]))
    assert not violations, f"{len(violations)} violations:\n{shown}"


def assert_found(histories: Iterable[list[Violation]], invariant: str) -> None:
    """Assert that one of the histories violates an invariant."""
    found: list[Violation] = []
    for violations in histories:
        found += violations
        if any(one.invariant == invariant for one in violations):
            return
    raise AssertionError(f"no history violates {invariant}:\n" + "\n".join(map(str, found[:SHOWN])))
