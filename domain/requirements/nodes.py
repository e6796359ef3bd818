"""The requirement language as frozen values: logic above, questions about one system below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class All:
    """Every child holds. Without children: no constraint."""

    children: tuple[Node, ...]


@dataclass(frozen=True)
class Either:
    """At least one child holds. Without children: no constraint."""

    children: tuple[Node, ...]


@dataclass(frozen=True)
class Not:
    """Not all of the children hold. Without children: no constraint."""

    children: tuple[Node, ...]


@dataclass(frozen=True)
class Leaf:
    """One element compared with one value; `element` is its first spelling in the vocabulary."""

    element: str
    op: str
    value: str | int | float


@dataclass(frozen=True)
class KeyValue:
    """A key defined by users. Without a value: whether the system has the key at all."""

    key: str
    op: str
    value: str | None = None


@dataclass(frozen=True)
class Device:
    """One and the same device has all these attributes; with `!=`, no device has."""

    op: str
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Disk:
    """One and the same disk satisfies `inner`, whose leaves are about disks."""

    inner: Node


@dataclass(frozen=True)
class Compatible:
    """The system has the arch and does not exclude the version of the family on it; without one, none."""

    arch: str
    family: str
    version: str | None = None


@dataclass(frozen=True)
class Forced:
    """This system and no other, whatever else is known of it."""

    fqdn: str


Node: TypeAlias = All | Either | Not | Leaf | KeyValue | Device | Disk | Compatible | Forced
