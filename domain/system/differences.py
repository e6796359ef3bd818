"""Differences between two documents of a system, by property."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

OUTCOMES = CREATED, CHANGED, UNCHANGED = ("created", "changed", "unchanged")
"""The outcomes of an import for a system or group."""


class PropertyDifference(NamedTuple):
    """A changed property such as `cpu.cores`, or a whole list; `before` and `after` are None if unknown."""

    property: str
    before: Any
    after: Any


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[PropertyDifference]:
    """Return the differences, sorted by property. A missing property equals null."""
    was, becomes = dict(_flat(before)), dict(_flat(after))
    names = sorted({*was, *becomes})
    return [
        PropertyDifference(name, was.get(name), becomes.get(name))
        for name in names
        if was.get(name) != becomes.get(name)
    ]


def _flat(document: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{within}{name}.")
        else:
            yield f"{within}{name}", value
