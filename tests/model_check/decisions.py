"""Checks of decisions at their basis: no queue jump, no unsafe grant, no needless abort or let-go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from domain.events import Event, split_subject
from domain.scheduling.decisions.draft import Decision
from tests.model_check.model import ModelWorld
from tests.model_check.safety import can_be_given, could_take, holders_to_let_go, is_safe
from tests.model_check.view import URGENCY, View, view_of


def faults(world: ModelWorld, decisions: Iterable[Decision]) -> Iterator[str]:
    """Yield the faults in the decisions of one commit; the world is at their basis."""
    view = view_of(world)
    newly = set(world.newly_assigned)
    for decision in decisions:
        partial: list[int] = []
        yield from _order(world, view, decision)
        if decision.trigger.kind == "let-go":
            yield from _let_go(view, decision)
        for subject, event in decision.events:
            if event.TOPIC == "recipe.scheduled":
                number = int(split_subject(subject)[1])
                partial.append(number)
                yield from _grant(view, number, event, newly)
                if decision.trigger.kind == "new-job":
                    yield from _new_before(view, number, event, _upto(decision))
            elif event.TOPIC == "recipe.aborted":
                yield from _given_up(view, int(split_subject(subject)[1]))
            elif event.TOPIC == "recipe.assigned":
                newly.add(int(split_subject(subject)[1]))
            view.apply(subject, event)
        yield from _unsafe(view, partial)


def _upto(decision: Decision) -> int:
    assert decision.batch is not None, "the decision has a batch"
    return decision.batch.upto


def _order(world: ModelWorld, view: View, decision: Decision) -> Iterator[str]:
    """Yield a fault if a wake-up or new set of a batch is answered before its pending systems."""
    kind, upto = decision.trigger.kind, _upto(decision)
    for name, usage in view.usage.items():
        # A system that became pending in an earlier decision of this commit is in the next batch.
        is_in_batch = world.systems[name].usage == "pending" and world.systems[name].since <= upto
        if kind in ("wake-up", "new-job") and usage == "pending" and is_in_batch:
            yield f"out of order: a {kind} is answered while {name} is pending"


def _new_before(view: View, number: int, event: Event, upto: int) -> Iterator[str]:
    """Yield a fault if new sets of a batch are not served in rank order.

    A set of several recipes is answered whole, so on each system it counts with its nominal priority.
    """
    name: str = event.system  # type: ignore[attr-defined]
    effective, nominal, submission = _place(view, number, name, [number])[1:-1]
    is_alone = len(view.sets[view.set_of[number]]) == 1
    its = (effective if is_alone else nominal, nominal, submission)
    for other, state in view.state.items():
        theirs = _place(view, other, name, [other])[1:-1]
        stands_before = theirs < its and view.rank[other][1] <= upto
        if state == "new" and stands_before and could_take(view, other, name):
            yield f"queue jump: recipe {number} got {name}, and new recipe {other} ranks before it"


def _grant(view: View, number: int, event: Event, newly: Collection[int]) -> Iterator[str]:
    name: str = event.system  # type: ignore[attr-defined]
    lab = view.lab[name]
    if view.usage[name] not in ("idle", "pending"):
        yield f"double booking: recipe {number} got {name}, which is {view.usage[name]}"
    if name not in view.usable[number] or view.lab_of(view.set_of[number]) not in (None, lab):
        yield f"recipe {number} got {name}, which it may not have"
    place = _place(view, number, name, newly)
    for other, state in view.state.items():
        stands_before = state in ("queued", "assigned") and _place(view, other, name, newly) < place
        if stands_before and view.set_of[other] != view.set_of[number] and could_take(view, other, name):
            yield f"queue jump: recipe {number} got {name}, and recipe {other} ranks before it"


def _place(view: View, number: int, name: str, newly: Collection[int]) -> tuple[int, int, int, int, int]:
    """Return the place of a recipe on a system: assigned recipes come first, then the others.

    A new recipe ranks as if it were queued, and so does one that became assigned in the same batch. Among
    them the effective priority decides, then the order of every line.
    """
    effective = max(view.rank[number][0], view.highest.get((number, name), len(URGENCY)))
    return (
        0 if view.state[number] == "assigned" and number not in newly else 1,
        effective,
        *view.rank[number],
    )


def _unsafe(view: View, granted: list[int]) -> Iterator[str]:
    for number in granted:
        if view.wanting(view.set_of[number]):
            lab = view.lab_of(view.set_of[number])
            assert lab is not None, f"recipe {number} has a system"
            if not is_safe(view, lab):
                yield f"unsafe grant: recipe {number} has {view.on[number]}, and {lab} is unsafe now"


def _let_go(view: View, decision: Decision) -> Iterator[str]:
    gave_back = {
        view.set_of[int(name)]
        for kind, name in (split_subject(subject) for subject, _ in decision.events)
        if kind == "recipe"
    }
    expected = holders_to_let_go(view, decision.trigger.name)
    if gave_back != set(expected):
        yield f"let go: sets {sorted(gave_back)} did, and {sorted(expected)} have to"


def _given_up(view: View, number: int) -> Iterator[str]:
    """Yield a fault if an aborted set could be served by some lab; checked once, for its first recipe."""
    members = view.sets[view.set_of[number]]
    if number != members[0]:
        return
    for lab in sorted(set(view.lab.values())):
        if can_be_given([frozenset(n for n in view.viable[each] if view.lab[n] == lab) for each in members]):
            yield f"recipe {number} was given up, and {lab} could serve its set"
