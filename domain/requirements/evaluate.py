"""Which systems satisfy a requirement, all of them at once.

Three-valued: a system satisfies it, does not, or what is known of the system cannot tell. A set that is empty
or missing (arches, pools, keys, flags, devices) is known to hold nothing. Of anything else that is missing,
neither a question nor its negation is true.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from domain.requirements.columns import Column, Columns
from domain.requirements.nodes import (
    All,
    Compatible,
    Device,
    Disk,
    Either,
    Forced,
    KeyValue,
    Leaf,
    Node,
    Not,
)
from domain.requirements.operands import Value
from domain.requirements.operators import fold
from domain.requirements.property import Record
from domain.requirements.records import compatible, device, held_in, key_value
from domain.requirements.vocabulary import DISK, SYSTEM

Question: TypeAlias = Leaf | KeyValue | Device | Disk | Compatible

# Answers about one property.
MOST_KEPT = 1_024


class Ternary(NamedTuple):
    """Two bitmaps that do not overlap; a system in neither does not satisfy the requirement."""

    true: int
    unknown: int


def matching(node: Node, columns: Columns) -> int:
    """The systems that satisfy the requirement."""
    return evaluate(node, columns).true


def evaluate(node: Node, columns: Columns) -> Ternary:
    match node:
        case All(children):
            return _all(children, columns)
        case Either(children) if children:
            return _either(children, columns)
        case Not(children) if children:
            return _not(_all(children, columns), columns)
        case Leaf() | KeyValue() | Device() | Disk() | Compatible():
            return _question(node, columns)
        case Forced(fqdn):
            return Ternary(columns["fqdn"].holding("==", fold(fqdn)), 0)
        case _:
            return Ternary(columns.everyone, 0)


def _question(node: Question, columns: Columns) -> Ternary:
    """Requirements differ, and ask much the same of systems: answers that take work are kept."""
    if columns.vocabulary is not SYSTEM or (isinstance(node, Leaf) and node.op == "=="):
        return _answer(node, columns)
    (about,) = properties(node)
    kept = columns.kept[about]
    if node not in kept:
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[node] = _answer(node, columns)
    answer: Ternary = kept[node]
    return answer


def _answer(node: Question, columns: Columns) -> Ternary:
    match node:
        case Leaf():
            return _leaf(node, columns)
        case KeyValue():
            return _known(key_value(node, columns), columns)
        case Device():
            return _known(device(node, columns), columns)
        case Compatible():
            return _known(compatible(node, columns), columns)
        case Disk(inner):
            return _disk(inner, columns)


def _all(children: Iterable[Node], columns: Columns) -> Ternary:
    true = possible = columns.everyone
    for child in children:
        held = evaluate(child, columns)
        true &= held.true
        possible &= held.true | held.unknown
    return Ternary(true, possible & ~true)


def _either(children: Iterable[Node], columns: Columns) -> Ternary:
    true = possible = 0
    for child in children:
        held = evaluate(child, columns)
        true |= held.true
        possible |= held.true | held.unknown
    return Ternary(true, possible & ~true)


def _not(held: Ternary, columns: Columns) -> Ternary:
    return Ternary(columns.everyone & ~(held.true | held.unknown), held.unknown)


def _known(true: int, columns: Columns) -> Ternary:
    return Ternary(true & columns.everyone, 0)


def _leaf(leaf: Leaf, columns: Columns) -> Ternary:
    element = columns.vocabulary.elements[leaf.element]
    column = columns[element.about]
    operand = fold(leaf.value)
    if operand == "" and element.empty_means_none:
        return _known(~column.known if leaf.op == "==" else column.known, columns)
    if not columns.vocabulary.properties[element.about].many:
        return Ternary(_scalar(column, leaf.op, operand), columns.everyone & ~column.known)
    if leaf.op == "!=":
        return _known(~column.holding("==", operand), columns)
    return _known(column.holding(leaf.op, operand), columns)


def _scalar(column: Column, op: str, operand: Value) -> int:
    if op == "!=":
        return column.known & ~column.holding("==", operand)
    return column.holding(op, operand)


def _disk(inner: Node, columns: Columns) -> Ternary:
    """The disks of a system are asked as if each were a system of its own."""
    true, unknown = 0, columns.everyone & ~columns["disks"].known
    for disks, bits in held_in(columns, "disks"):
        held = evaluate(inner, _each_disk(disks))
        if held.true:
            true |= bits
        elif held.unknown:
            unknown |= bits
    return Ternary(true, unknown)


@lru_cache(4096)
def _each_disk(disks: tuple[Record, ...]) -> Columns:
    columns = Columns(DISK)
    for number, disk in enumerate(disks):
        columns.put(number, dict(disk))
    return columns


def properties(node: Node) -> frozenset[str]:
    """The properties of a system that the answer depends on, as `Columns` names them."""
    match node:
        case All(children) | Either(children) | Not(children):
            return frozenset().union(*map(properties, children))
        case Leaf(element):
            return frozenset({SYSTEM.elements[element].about})
        case KeyValue():
            return frozenset({"key_values"})
        case Device():
            return frozenset({"devices"})
        case Compatible():
            return frozenset({"installable"})
        case Disk():
            return frozenset({"disks"})
        case Forced():
            return frozenset({"fqdn"})
