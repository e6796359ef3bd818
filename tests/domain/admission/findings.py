"""Readers of documents for tests: the value of a valid document, the faults of a faulty one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from domain.requirements.findings import Path, Report, dotted

T = TypeVar("T")


def valid(read: Callable[[Path, Report], T | None]) -> T:
    """Return the value that `read` returns, which must have no fault."""
    value = read((), _refuse)
    assert value is not None
    return value


def faults(read: Callable[[Path, Report], object]) -> list[tuple[str, str]]:
    """Return the places and messages that `read` reports, in order."""
    found: list[tuple[str, str]] = []
    read((), lambda path, message: found.append((dotted(path), message)))
    return found


def faulty(read: Callable[[Path, Report], object]) -> list[tuple[str, str]]:
    """Return the faults that `read` reports; if there are any, it must return None."""
    found: list[tuple[str, str]] = []
    value = read((), lambda path, message: found.append((dotted(path), message)))
    assert (value is None) == bool(found)
    return found


def _refuse(path: Path, message: str) -> None:
    raise AssertionError(f"{dotted(path)}: {message}")
