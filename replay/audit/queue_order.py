"""The order among queues: which of the first recipes of leaves gets a system, by the order of each parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import zip_longest
from typing import NamedTuple

from replay.audit.queue_tree import FAIR, FIFO, ROOT, QueueTree, paths_upward


class LeafFirst(NamedTuple):
    """The first recipe or set of a leaf: its priority (5 is Urgent), its place in the line of all leaves, its
    number."""

    priority: int
    place: tuple[int, ...]
    number: int


class ChildTurn(NamedTuple):
    """The turn of a child of a queue, least first: the priority with its offset, the share, the first set."""

    negative_priority: int
    share: Fraction
    first_set: tuple[int, ...]


class Use(NamedTuple):
    """The used systems by queue, and the place of the first waiting set of each queue."""

    systems: Mapping[str, int]
    first_sets: Mapping[str, tuple[int, ...]]


def order_of(tree: QueueTree, path: str) -> str:
    order: str = tree.properties(path).get("order", FIFO)
    return order


def first_of(tree: QueueTree, leaf_firsts: Mapping[str, LeafFirst], use: Use, path: str = ROOT) -> LeafFirst:
    """Return the first of the leaves that is next at or below a queue; there must be one."""
    if path in leaf_firsts:
        # A leaf that has become a parent keeps its recipes, which come before those below.
        return leaf_firsts[path]
    below: dict[str, dict[str, LeafFirst]] = {}
    for leaf, first in leaf_firsts.items():
        child = leaf[: leaf.index(".", len(path) + 1)] if "." in leaf[len(path) + 1 :] else leaf
        below.setdefault(child, {})[leaf] = first
    firsts = {child: first_of(tree, each, use, child) for child, each in below.items()}
    keys = {
        child: (turn(tree, path, child, first.priority, use), first.place) for child, first in firsts.items()
    }
    return firsts[min(keys, key=keys.__getitem__)]


def turn(tree: QueueTree, parent: str, child: str, priority: int, use: Use) -> ChildTurn:
    """Return the turn of a child whose first recipe has a priority; the same for all below `fifo`."""
    order, properties = order_of(tree, parent), tree.properties(child)
    if order == FIFO:
        return ChildTurn(0, Fraction(0), ())
    share = Fraction(use.systems.get(child, 0), properties.get("guaranteed") or 1)
    first_set = use.first_sets.get(child, ())
    if order == FAIR:
        return ChildTurn(0, share, first_set)
    own = 0 if properties.get("fence") else priority
    return ChildTurn(-(properties.get("priority_offset", 0) + own), share, first_set)


def parting(one: str, other: str) -> tuple[str, str, str]:
    """Return the queue where two paths part, and the next queue on each; empty if the path ends there."""
    pairs = zip_longest(_downward(one), _downward(other), fillvalue="")
    parent = ""
    for mine, theirs in pairs:
        if mine != theirs:
            return parent, mine, theirs
        parent = mine
    return parent, "", ""


def _downward(path: str) -> Iterator[str]:
    return reversed(paths_upward(path))
