"""The nodes of requirement trees: logical operators, questions about a system or tree, and force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class All:
    """Conjunction: every child is true. Without children: no constraint."""

    children: tuple[Node, ...]


@dataclass(frozen=True)
class Either:
    """Disjunction: at least one child is true. Without children: no constraint."""

    children: tuple[Node, ...]


@dataclass(frozen=True)
class Not:
    """Negation: at least one child is false. Without children: no constraint."""

    children: tuple[Node, ...]


@dataclass(frozen=True)
class Leaf:
    """One element compared with one value; `element` is its first spelling in the vocabulary."""

    element: str
    op: str
    value: str | int | float


@dataclass(frozen=True)
class KeyValue:
    """A user-defined key compared with a value. Without a value: the system has the key with any value."""

    key: str
    op: str
    value: str | None = None


@dataclass(frozen=True)
class Device:
    """Some device has all these attributes; with `!=`, no device has all of them."""

    op: str
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Disk:
    """Some disk satisfies `inner`, whose leaves are about disks."""

    inner: Node


@dataclass(frozen=True)
class Compatible:
    """The system has the arch, and does not exclude the family, or this version of it, on that arch."""

    arch: str
    family: str
    version: str | None = None


@dataclass(frozen=True)
class Forced:
    """One system: no other system matches, and its condition has no effect."""

    fqdn: str


Node: TypeAlias = All | Either | Not | Leaf | KeyValue | Device | Disk | Compatible | Forced
