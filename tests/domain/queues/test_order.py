"""The next leaf of a system, by the order of each parent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from domain.queues.order import First, QueueOrder
from domain.queues.tree import FAIR, FIFO, PRIORITY, Queue, QueueTree

Heads = Mapping[str, tuple[int, ...]]


def order(kind: str, *children: Queue) -> QueueOrder:
    return QueueOrder(QueueTree(Queue("root", order=kind, children=children)))


def next_leaf(found: QueueOrder, heads: Heads, used: Mapping[str, int] = {}, **empty: Any) -> str | None:
    first = found.first([*heads, *empty.get("empty", ())], used, heads.get)
    return None if first is None else first.leaf


A, B = Queue("root.a"), Queue("root.b")


def test_fifo__any_tree_of_it__is_one_line() -> None:
    nested = order(FIFO, Queue("root.a", children=(Queue("root.a.x"), Queue("root.a.y"))), B)
    assert nested.is_one_line
    heads = {"root.a.x": (-2, 5), "root.a.y": (-3, 9), "root.b": (-3, 8)}
    assert nested.first(heads, {}, heads.get) == First("root.b", (-3, 8))


@pytest.mark.parametrize(
    ("guaranteed", "used", "leaf"),
    [
        # The least used one, whatever stands first.
        ((None, None), (2, 1), "root.b"),
        # Equal shares: the one that stands first.
        ((None, None), (1, 1), "root.a"),
        # 3 of 4 is more than 2 of 3, and compared as whole numbers.
        ((4, 3), (3, 2), "root.b"),
        # A queue without a guarantee counts as one with 1, also with a guarantee of 0.
        ((2, 0), (3, 1), "root.b"),
        ((2, None), (1, 1), "root.a"),
    ],
)
def test_fair__shares_of_two_children__the_least_used_for_its_guarantee_is_next(
    guaranteed: tuple[int | None, int | None], used: tuple[int, int], leaf: str
) -> None:
    queues = (each._replace(guaranteed=number) for each, number in zip((A, B), guaranteed, strict=True))
    systems = dict(zip(("root.a", "root.b"), used, strict=True))
    assert next_leaf(order(FAIR, *queues), {"root.a": (-3, 1), "root.b": (-3, 2)}, systems) == leaf


def test_fair__child_without_a_recipe_for_the_system__is_passed_over() -> None:
    assert next_leaf(order(FAIR, A, B), {"root.b": (-1, 1)}, {"root.b": 9}, empty=["root.a"]) == "root.b"
    assert next_leaf(order(FAIR, A, B), {}, empty=["root.a", "root.b"]) is None


def test_fair__least_used_child_has_a_recipe__no_other_child_is_asked() -> None:
    asked: list[str] = []

    def head_of(leaf: str) -> tuple[int, ...]:
        asked.append(leaf)
        return (-1, 1)

    found = order(FAIR, A, B).first(["root.a", "root.b"], {"root.b": 1}, head_of)
    assert (found and found.leaf, asked) == ("root.a", ["root.a"])


@pytest.mark.parametrize(
    ("a", "b", "leaf"),
    [
        # By the effective priority of the first recipe, then by share, then by its place.
        (Queue("root.a"), Queue("root.b"), "root.b"),
        (Queue("root.a", priority_offset=2), Queue("root.b"), "root.a"),
        (Queue("root.a", priority_offset=1), Queue("root.b"), "root.b"),
        # A fenced child counts with its offset alone.
        (Queue("root.a"), Queue("root.b", fence=True), "root.a"),
        (Queue("root.a"), Queue("root.b", fence=True, priority_offset=5), "root.b"),
    ],
)
def test_priority__offsets_and_fences__the_highest_sum_is_next(a: Queue, b: Queue, leaf: str) -> None:
    used = {"root.a": 2, "root.b": 1}
    assert next_leaf(order(PRIORITY, a, b), {"root.a": (-3, 1), "root.b": (-4, 2)}, used) == leaf


def test_parents__of_different_orders__each_says_which_child_is_next() -> None:
    fair = Queue("root.k", order=FAIR, children=(Queue("root.k.x"), Queue("root.k.y")))
    heads = {"root.k.x": (-3, 1), "root.k.y": (-3, 4), "root.b": (-3, 2)}
    # y is next in k, since it uses less; b stands before it in the line of root.
    assert next_leaf(order(FIFO, fair, B), heads, {"root.k.x": 1}) == "root.b"
    assert next_leaf(order(FIFO, fair, B), heads, {"root.k.y": 1}) == "root.k.x"


def test_dynamic_and_vanished_queues__are_children_by_their_paths() -> None:
    tree = QueueTree(Queue("root", order=FAIR, children=(A,)), (Queue("root.old", guaranteed=4),))
    heads = {"root.a": (-3, 1), "root.old": (-3, 2), "root.new": (-3, 3)}
    used = {"root.a": 1, "root.old": 3, "root.new": 2}
    assert next_leaf(QueueOrder(tree), heads, used) == "root.old"
