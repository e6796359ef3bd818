"""Evaluation of a requirement for all systems at once.

The logic is three-valued: the result for a system is true, false or unknown. A missing list (arches, pools,
keys, flags, devices) counts as empty. For any other missing property, a question and its negation are
unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Final, NamedTuple, TypeAlias

from domain.requirements.columns import Columns, PropertyColumn
from domain.requirements.nodes import All, Compatible, Device, Disk, Either, Forced, KeyValue, Leaf, Node, Not
from domain.requirements.operands import Value
from domain.requirements.operators import NEGATIVE, OTHER, fold
from domain.requirements.records import compatible, device, holders_of_each, key_value
from domain.requirements.vocabulary import DISK, SYSTEM

Question: TypeAlias = Leaf | KeyValue | Device | Disk | Compatible

# Maximum number of cached answers for one property.
MAX_CACHED = 1_024
# The key of the columns of disks in the cache of the property `disks`.
DISKS: Final = "distinct disks"


class Ternary(NamedTuple):
    """Two bitmaps that do not overlap; for a system in neither, the result is false."""

    true: int
    unknown: int


def matching(node: Node, columns: Columns) -> int:
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
            return Ternary(columns.all_numbers, 0)


def _question(node: Question, columns: Columns) -> Ternary:
    """Return the result of one question, from the cache if possible: many requirements share questions."""
    if columns.vocabulary is not SYSTEM or (isinstance(node, Leaf) and node.op == "=="):
        return _answer(node, columns)
    (about,) = properties(node)
    kept = columns.kept[about]
    # Another thread may clear the cache between two steps.
    answer: Ternary | None = kept.get(node)
    if answer is None:
        if len(kept) >= MAX_CACHED:
            kept.clear()
        answer = kept[node] = _answer(node, columns)
    return answer


def _answer(node: Question, columns: Columns) -> Ternary:
    match node:
        case Leaf():
            return _leaf(node, columns)
        case KeyValue():
            return _key_value(node, columns)
        case Device():
            return _definite(device(node, columns), columns)
        case Compatible():
            return _definite(compatible(node, columns), columns)
        case Disk(inner):
            return _disk(inner, columns)


def _all(children: Iterable[Node], columns: Columns) -> Ternary:
    true = possible = columns.all_numbers
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
    return Ternary(columns.all_numbers & ~(held.true | held.unknown), held.unknown)


def _definite(true: int, columns: Columns) -> Ternary:
    return Ternary(true & columns.all_numbers, 0)


def _leaf(leaf: Leaf, columns: Columns) -> Ternary:
    element = columns.vocabulary.elements[leaf.element]
    column = columns[element.about]
    operand = fold(leaf.value)
    if operand == "" and element.empty_means_none:
        return _definite(~column.with_value if leaf.op == "==" else column.with_value, columns)
    if leaf.op == OTHER or not columns.vocabulary.properties[element.about].many:
        return Ternary(_scalar(column, leaf.op, operand), columns.all_numbers & ~column.with_value)
    if leaf.op == "!=":
        return _definite(~column.holding("==", operand), columns)
    return _definite(column.holding(leaf.op, operand), columns)


def _scalar(column: PropertyColumn, op: str, operand: Value) -> int:
    if op in NEGATIVE:
        return column.with_value & ~column.holding("==", operand)
    return column.holding(op, operand)


def _key_value(node: KeyValue, columns: Columns) -> Ternary:
    true = key_value(node, columns)
    if node.op != OTHER:
        return _definite(true, columns)
    with_keys = columns["key_values"].with_value
    return Ternary(true & with_keys, columns.all_numbers & ~with_keys)


def _disk(inner: Node, columns: Columns) -> Ternary:
    disks, systems = distinct_disks(columns)
    held = evaluate(inner, disks)
    true = reduce(int.__or__, (systems[number] for number in _numbers_in(held.true)), 0)
    unknown = reduce(int.__or__, (systems[number] for number in _numbers_in(held.unknown)), 0)
    return Ternary(true, (unknown | columns.all_numbers & ~columns["disks"].with_value) & ~true)


def distinct_disks(columns: Columns) -> tuple[Columns, Sequence[int]]:
    """Return columns of the distinct disks, and by disk number the systems that have the disk."""
    holders = holders_of_each(columns, "disks")
    kept = columns.kept["disks"]
    disks: Columns | None = kept.get(DISKS)
    if disks is None:
        disks = Columns(DISK)
        for number, disk in enumerate(holders):
            disks.put(number, dict(disk))
        kept[DISKS] = disks
    return disks, list(holders.values())


def _numbers_in(bitmap: int) -> Iterator[int]:
    return (number for number, digit in enumerate(f"{bitmap:b}"[::-1]) if digit == "1")


def properties(node: Node) -> frozenset[str]:
    """Return the names of the system properties on which the result of a host requirement depends."""
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
