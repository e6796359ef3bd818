"""Locks at one level, in the form of documents: every kind, and some with two parts."""

from __future__ import annotations

from typing import Any

FORMS: list[Any] = [
    *("None", "UnknownShared", "AllShared", "UnknownExclusive", "AllExclusive"),
    *({mode: names} for mode in ("Shared", "Exclusive") for names in (["a"], ["a", "b"], ["c"])),
    [{"Shared": ["a"]}, "UnknownExclusive"],
    ["AllShared", {"Exclusive": ["a"]}],
    [{"Shared": ["a", "b"]}, {"Exclusive": ["b"]}],
]
