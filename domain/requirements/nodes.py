"""The requirement language as frozen values: first the logic, then the questions about one system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class All:
    """Conjunction: every child holds. Without children: no constraint."""

    children: tuple[Node, ...]


@dataclass(frozen=True)
class Either:
    """Disjunction: at least one child holds. Without children: no constraint."""

    children: tuple[Node, ...]


@dataclass(frozen=True)
class Not:
    """Negation: some child does not hold. Without children: no constraint."""

    children: tuple[Node, ...]


@dataclass(frozen=True)
class Leaf:
    """One element compared with one value; `element` is its first spelling in the vocabulary."""

    element: str
    op: str
    value: str | int | float


@dataclass(frozen=True)
class KeyValue:
    """A comparison of a key that users define. Without a value: the system has the key at all."""

    key: str
    op: str
    value: str | None = None


@dataclass(frozen=True)
class Device:
    """A single device has all these attributes; with `!=`, no device has."""

    op: str
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Disk:
    """A single disk satisfies `inner`, whose leaves are about disks."""

    inner: Node


@dataclass(frozen=True)
class Compatible:
    """The system has the arch, and does not exclude the family, or this version of it, on that arch."""

    arch: str
    family: str
    version: str | None = None


@dataclass(frozen=True)
class Forced:
    """This system and no other; the condition of the system does not matter."""

    fqdn: str


Node: TypeAlias = All | Either | Not | Leaf | KeyValue | Device | Disk | Compatible | Forced
