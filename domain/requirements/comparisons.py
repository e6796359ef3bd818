"""The cost of requirements: the maximum number of comparisons with values of systems or distro trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from domain.requirements.columns import Columns
from domain.requirements.evaluate import MAX_CACHED, Question, distinct_disks, properties
from domain.requirements.nodes import All, Compatible, Device, Disk, Either, Forced, KeyValue, Leaf, Node, Not
from domain.requirements.operators import EQUALITY, OTHER
from domain.requirements.records import holders_of_each

# A device is compared attribute by attribute, which takes several times as long as one comparison.
DEVICE_COST: Final = 16


def comparisons(nodes: Iterable[Node], columns: Columns) -> int:
    """Return the number of comparisons that evaluate all requirements once.

    A question takes one comparison for each distinct value of its property. Equal questions count once,
    unless there are more distinct questions about their property than fit in the cache.
    """
    questions = Counter(question for node in nodes for question in _questions(node))
    distinct_count = Counter(name for question in questions for name in properties(question))
    return sum(
        _cost(question, columns) * (count if _is_above(question, distinct_count) else 1)
        for question, count in questions.items()
    )


def comparisons_uncached(nodes: Iterable[Node], columns: Columns) -> int:
    """Return the comparisons for requirements whose answers are not cached, such as those of distro trees."""
    return sum(_cost(question, columns) for node in nodes for question in _questions(node))


def _is_above(question: Question, distinct_count: Counter[str]) -> bool:
    return any(distinct_count[name] > MAX_CACHED for name in properties(question))


def _questions(node: Node) -> Iterator[Question]:
    match node:
        case All(children) | Either(children) | Not(children):
            for child in children:
                yield from _questions(child)
        case Forced():
            return
        case _:
            yield node


def _cost(question: Question, columns: Columns) -> int:
    match question:
        case Leaf():
            return _leaf_cost(question, columns)
        case KeyValue(_, op, value):
            return len(columns["key_values"].holders) * _weight(op, value)
        case Device(op, attributes):
            weight = sum(_weight(op, value) for _, value in attributes)
            return len(holders_of_each(columns, "devices")) * DEVICE_COST * weight
        case Compatible():
            return len(columns["installable"].holders)
        case Disk(inner):
            disks, _ = distinct_disks(columns)
            return disks.all_numbers.bit_count() + sum(_cost(each, disks) for each in _questions(inner))


def _leaf_cost(leaf: Leaf, columns: Columns) -> int:
    """Return the comparisons for one leaf: 1 for equality, which the column answers without comparisons."""
    if leaf.op in (*EQUALITY, OTHER):
        return 1
    about = columns.vocabulary.elements[leaf.element].about
    return len(columns[about].holders) * _weight(leaf.op, leaf.value)


def _weight(op: str, value: object) -> int:
    """Return 1, plus 1 for each wildcard inside a pattern, except at its ends."""
    if op != "like":
        return 1
    inside = str(value)[1:-1]
    return 1 + inside.count("%") + inside.count("_")
