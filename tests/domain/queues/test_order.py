"""The next leaf of a system, by the order of each parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pytest

from domain.queues.order import Contender, QueueOrder, WaitingQueues
from domain.queues.tree import FAIR, FIFO, PRIORITY, Queue, QueueTree, parent_of, paths_upward

Heads = Mapping[str, tuple[int, ...]]
Recipes = Mapping[str, Sequence[tuple[int, ...]]]


def order(kind: str, *children: Queue) -> QueueOrder:
    return QueueOrder(QueueTree(Queue("root", order=kind, children=children)))


def waiting(
    tree: QueueOrder, recipes: Recipes, used: Mapping[str, int] = {}, empty: Iterable[str] = ()
) -> WaitingQueues:
    """Return the queues with these recipes, whose sets are as many, and those that use systems."""
    leaves = [*recipes, *empty]
    found: dict[str, dict[str, None]] = {}
    for leaf in leaves:
        for path in paths_upward(leaf):
            found.setdefault(parent_of(path), {})[path] = None
    first_sets: dict[str, tuple[int, ...]] = {}
    for leaf, places in recipes.items():
        for path in paths_upward(leaf):
            first_sets[path] = min(*places, first_sets.get(path, places[0]))
    shares = {path: tree.share(path, systems) for path, systems in used.items()}
    return WaitingQueues(leaves, found, shares, lambda path: first_sets.get(path, ()))


def leaves_in_order(
    found: QueueOrder, recipes: Recipes, used: Mapping[str, int] = {}, empty: Iterable[str] = ()
) -> list[str]:
    """Return the leaf of each recipe, in the order in which a system asks them."""

    def items_of(leaf: str) -> Iterator[tuple[tuple[int, ...], str]]:
        return ((place, leaf) for place in recipes.get(leaf, ()))

    return [leaf for _, leaf in found.ordered(waiting(found, recipes, used, empty), items_of)]


def next_leaf(
    found: QueueOrder, heads: Heads, used: Mapping[str, int] = {}, empty: Iterable[str] = ()
) -> str | None:
    recipes = {leaf: [head] for leaf, head in heads.items()}
    return next(iter(leaves_in_order(found, recipes, used, empty)), None)


A, B = Queue("root.a"), Queue("root.b")


def test_fifo__any_tree_of_it__is_one_line() -> None:
    nested = order(FIFO, Queue("root.a", children=(Queue("root.a.x"), Queue("root.a.y"))), B)
    assert nested.is_one_line
    heads = {"root.a.x": (-2, 5), "root.a.y": (-3, 9), "root.b": (-3, 8)}
    assert next_leaf(nested, heads) == "root.b"


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

    def items_of(leaf: str) -> Iterator[tuple[tuple[int, ...], str]]:
        asked.append(leaf)
        yield (-1, 1), leaf

    tree = order(FAIR, A, B)
    queues = waiting(tree, {"root.a": [(-1, 1)], "root.b": [(-1, 2)]}, {"root.b": 1})
    found = next(tree.ordered(queues, items_of))
    assert (found, asked) == (((-1, 1), "root.a"), ["root.a"])


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


def test_ordered__dynamic_and_vanished_queues__are_children_by_their_paths() -> None:
    # Siblings compare what is guaranteed to a vanished queue; its own order ended with it.
    tree = QueueTree(Queue("root", order=FAIR, children=(A,)), (Queue("root.old", guaranteed=4),))
    heads = {"root.a": (-3, 1), "root.old": (-3, 2), "root.new": (-3, 3)}
    used = {"root.a": 1, "root.old": 3, "root.new": 2}
    assert next_leaf(QueueOrder(tree), heads, used) == "root.old"


def test_ordered__without_grants__all_of_a_queue_with_the_smaller_share_come_first() -> None:
    recipes = {"root.a": [(-3, 1), (-3, 4)], "root.b": [(-5, 2), (-1, 3)]}
    assert leaves_in_order(order(FAIR, A, B), recipes, {"root.a": 1}) == [*["root.b"] * 2, *["root.a"] * 2]
    # With equal shares the first sets decide.
    assert leaves_in_order(order(FAIR, A, B), recipes) == [*["root.b"] * 2, *["root.a"] * 2]
    # In one line, by the recipe that each would give next.
    assert leaves_in_order(order(FIFO, A, B), recipes) == ["root.b", "root.a", "root.a", "root.b"]


def test_leaf_that_became_a_parent__keeps_recipes__which_come_before_those_below() -> None:
    parent = Queue("root.a", order=FAIR, children=(Queue("root.a.x"),))
    recipes = {"root.a": [(-3, 9)], "root.a.x": [(-3, 1)], "root.b": [(-3, 5)]}
    tree = order(FIFO, parent, B)
    assert leaves_in_order(tree, recipes) == ["root.b", "root.a", "root.a.x"]
    queues = waiting(tree, recipes)
    above, below = Contender("root.a", 1), Contender("root.a.x", 5)
    assert (tree.compare(queues, above, below), tree.compare(queues, below, above)) == (-1, 1)
    assert tree.compare(queues, above, above) == 0
    assert tree.turns(queues, above, below) is None


@pytest.mark.parametrize(
    ("kind", "priorities", "used", "expected"),
    [
        (FIFO, (5, 1), (0, 9), 0),
        (FAIR, (1, 5), (1, 2), -1),
        # Equal shares: the first set of root.a is older.
        (FAIR, (1, 5), (2, 2), -1),
        (PRIORITY, (3, 3), (2, 2), -1),
        (PRIORITY, (1, 5), (0, 9), 1),
        (PRIORITY, (3, 3), (3, 2), 1),
    ],
)
def test_compare__two_sets__by_the_queue_where_their_paths_part(
    kind: str, priorities: tuple[int, int], used: tuple[int, int], expected: int
) -> None:
    tree = order(kind, Queue("root.a", children=(Queue("root.a.x"),)), B)
    systems = dict(zip(("root.a", "root.b"), used, strict=True))
    contenders = [Contender(*each) for each in zip(("root.a.x", "root.b"), priorities, strict=True)]
    queues = waiting(tree, {"root.a.x": [(-1, 1)], "root.b": [(-1, 2)]}, systems)
    assert tree.compare(queues, contenders[0], contenders[1]) == expected
    assert tree.compare(queues, contenders[1], contenders[0]) == -expected
