"""Whether holders wait for each other for ever, by trying all orders and all ways to give out systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations

from tests.model_check.view import View


def holders(view: View, lab: str) -> list[int]:
    """The sets with some but not all of their systems, in this lab."""
    return [
        set_id
        for set_id in view.sets
        if view.holding(set_id) and view.wanting(set_id) and view.lab_of(set_id) == lab
    ]


def is_safe(view: View, lab: str) -> bool:
    """Whether the holders of a lab can be completed one after another, in some order."""
    return any(_works(view, lab, order) for order in permutations(holders(view, lab)))


def _works(view: View, lab: str, order: Sequence[int]) -> bool:
    return all(completable(view, lab, set_id, order[place:]) for place, set_id in enumerate(order))


def who_lets_go(view: View, lab: str) -> list[int]:
    """Those that nothing could complete; then, among those that are left over when all others are completed,
    the least urgent, the latest."""
    there = holders(view, lab)
    gone = [
        each for each in left_over(view, lab, there) if not completable(view, lab, each, still_there=[each])
    ]
    while left := left_over(view, lab, [each for each in there if each not in gone]):
        gone.append(max(left, key=lambda each: view.rank[view.sets[each][0]]))
    return gone


def left_over(view: View, lab: str, there: Sequence[int]) -> list[int]:
    """Those of the holders that no order completes, and it leaves as few as can be."""
    orders = list(permutations(there))
    done = [next(n for n in range(len(order) + 1) if not _goes_on(view, lab, order, n)) for order in orders]
    return list(orders[done.index(max(done))][max(done) :])


def _goes_on(view: View, lab: str, order: Sequence[int], place: int) -> bool:
    return place < len(order) and completable(view, lab, order[place], order[place:])


def completable(view: View, lab: str, set_id: int, still_there: Iterable[int]) -> bool:
    """Whether a set can have all it wants, when all comes free but what these sets hold."""
    held = frozenset[str]().union(*(view.held(each) for each in still_there))
    return can_be_given([_of_lab(view, view.usable[number], lab) - held for number in view.wanting(set_id)])


def _of_lab(view: View, names: frozenset[str], lab: str) -> frozenset[str]:
    return frozenset(name for name in names if view.lab[name] == lab)


def can_be_given(wants: Sequence[frozenset[str]]) -> bool:
    """Whether each can have a system of its own."""
    if not wants:
        return True
    first, rest = wants[0], wants[1:]
    return any(can_be_given([want - {name} for want in rest]) for name in first)


def some_lab_has_all(view: View, set_id: int, names: dict[int, frozenset[str]]) -> bool:
    """Whether the recipes of a set without a system can have one of these each, all in one lab."""
    bound = view.lab_of(set_id)
    labs = [bound] if bound else sorted(set(view.lab.values()))
    wanting = view.wanting(set_id)
    return any(can_be_given([_of_lab(view, names[number], lab) for number in wanting]) for lab in labs)


def could_take(view: View, number: int, name: str) -> bool:
    """Whether a recipe without a system may have this one, and nobody would wait for ever then."""
    lab = view.lab[name]
    if name not in view.usable[number] or view.bound[number] not in (None, lab):
        return False
    set_id = view.set_of[number]
    if view.wanting(set_id) == [number]:
        return True
    before = view.state[number], view.on[number], view.bound[number]
    view.state[number], view.on[number], view.bound[number] = "scheduled", name, lab
    safe = is_safe(view, lab)
    view.state[number], view.on[number], view.bound[number] = before
    return safe
