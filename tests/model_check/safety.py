"""The safety of holders, by trying all orders and all assignments of systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations

from tests.model_check.view import View


def holders(view: View, lab: str) -> list[int]:
    """Return the sets with some but not all of their systems, in this lab."""
    return [
        set_id
        for set_id in view.sets
        if view.holding(set_id) and view.wanting(set_id) and view.lab_of(set_id) == lab
    ]


def is_safe(view: View, lab: str) -> bool:
    """Return whether the holders of a lab can be completed one after another, in some order."""
    return any(_works(view, lab, order) for order in permutations(holders(view, lab)))


def _works(view: View, lab: str, order: Sequence[int]) -> bool:
    return all(is_completable(view, lab, set_id, order[place:]) for place, set_id in enumerate(order))


def holders_to_let_go(view: View, lab: str) -> list[int]:
    """Return the holders that must let go: impossible ones, then the least urgent and latest stuck ones."""
    there = holders(view, lab)
    gone = [
        each
        for each in stuck_holders(view, lab, there)
        if not is_completable(view, lab, each, still_there=[each])
    ]
    while left := stuck_holders(view, lab, [each for each in there if each not in gone]):
        gone.append(max(left, key=lambda each: view.rank[view.sets[each][0]]))
    return gone


def stuck_holders(view: View, lab: str, there: Sequence[int]) -> list[int]:
    """Return the smallest set of holders that remain after completing others in some order."""
    orders = list(permutations(there))
    done = [next(n for n in range(len(order) + 1) if not _goes_on(view, lab, order, n)) for order in orders]
    return list(orders[done.index(max(done))][max(done) :])


def _goes_on(view: View, lab: str, order: Sequence[int], place: int) -> bool:
    return place < len(order) and is_completable(view, lab, order[place], order[place:])


def is_completable(view: View, lab: str, set_id: int, still_there: Iterable[int]) -> bool:
    """Return whether a set can have all its systems if all come free except those of `still_there`."""
    held = frozenset[str]().union(*(view.held(each) for each in still_there))
    return can_be_given([_of_lab(view, view.usable[number], lab) - held for number in view.wanting(set_id)])


def _of_lab(view: View, names: frozenset[str], lab: str) -> frozenset[str]:
    return frozenset(name for name in names if view.lab[name] == lab)


def can_be_given(wants: Sequence[frozenset[str]]) -> bool:
    """Return whether each can have a different system."""
    if not wants:
        return True
    first, rest = wants[0], wants[1:]
    return any(can_be_given([want - {name} for want in rest]) for name in first)


def some_lab_has_all(view: View, set_id: int, names: dict[int, frozenset[str]]) -> bool:
    """Return whether the unplaced recipes of a set can have one of these systems each, all in one lab."""
    bound = view.lab_of(set_id)
    labs = [bound] if bound else sorted(set(view.lab.values()))
    wanting = view.wanting(set_id)
    return any(can_be_given([_of_lab(view, names[number], lab) for number in wanting]) for lab in labs)


def is_room_kept_from(view: View, set_id: int) -> bool:
    """Return whether room is kept for a set before this one, which has waited K ticks and needs more."""
    if view.is_charged(set_id):
        return False
    turn = view.room_turn(set_id)
    before = (each for each in view.sets if view.is_in_queue(each) and view.room_turn(each) < turn)
    return any(
        view.ages[each] >= view.weights.coefficient
        and view.lacks_only_systems(each, set_id)
        and some_lab_has_all(view, each, dict(view.usable))
        for each in before
    )


def could_take(view: View, number: int, name: str) -> bool:
    """Return whether a recipe without a system may have this one, and the grant is safe."""
    lab, set_id = view.lab[name], view.set_of[number]
    if name not in view.usable[number] or view.bound[number] not in (None, lab) or view.is_held_back(set_id):
        return False
    if not view.has_room(set_id) or is_room_kept_from(view, set_id):
        return False
    if view.wanting(set_id) == [number]:
        return True
    before = view.state[number], view.on[number], view.bound[number]
    view.state[number], view.on[number], view.bound[number] = "scheduled", name, lab
    safe = is_safe(view, lab)
    view.state[number], view.on[number], view.bound[number] = before
    return safe
