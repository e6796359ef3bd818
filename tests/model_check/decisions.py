"""Checks of decisions at their basis: no queue jump, no unsafe grant, no needless abort or let-go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from domain.events import Event, split_subject
from domain.recipe.claim import SERVED
from domain.recipe.events import RecipeClaimEnded
from domain.scheduling.decisions.draft import Decision
from tests.model_check.model import ModelWorld
from tests.model_check.safety import (
    can_be_given,
    could_take,
    holders_to_let_go,
    is_room_kept_from,
    is_safe,
)
from tests.model_check.view import URGENCY, View, view_of


def faults(world: ModelWorld, decisions: Iterable[Decision]) -> Iterator[str]:
    """Yield the faults in the decisions of one commit; the world is at their basis."""
    view = view_of(world)
    newly = set(world.newly_assigned)
    for decision in decisions:
        partial: list[int] = []
        claimed = _served(view, decision)
        yield from _order(world, view, decision)
        if decision.trigger.kind == "let-go":
            yield from _let_go(view, decision)
        for subject, event in decision.events:
            if event.TOPIC == "recipe.scheduled":
                number = int(split_subject(subject)[1])
                partial.append(number)
                yield from _grant(view, number, event, newly, claimed.get(number))
                if decision.trigger.kind == "new-job":
                    yield from _new_before(view, number, event, _upto(decision))
            elif event.TOPIC == "recipe.aborted":
                yield from _given_up(view, int(split_subject(subject)[1]))
            elif event.TOPIC == "recipe.assigned":
                newly.add(int(split_subject(subject)[1]))
            view.apply(subject, event)
        yield from _unsafe(view, partial)
        yield from _locks(view, decision)


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
    effective, nominal, _, *rest, _ = _place(view, number, name, [number])
    is_alone = len(view.sets[view.set_of[number]]) == 1
    its = (view.queue_turn(view.set_of[number]), effective if is_alone else nominal, nominal, *rest)
    for other, state in view.state.items():
        theirs_effective, theirs_nominal, _, *theirs_rest, _ = _place(view, other, name, [other])
        turn = view.queue_turn(view.set_of[other])
        theirs = turn, theirs_effective, theirs_nominal, *theirs_rest
        stands_before = theirs < its and view.rank[other][1] <= upto
        if state == "new" and stands_before and could_take(view, other, name):
            yield f"queue jump: recipe {number} got {name}, and new recipe {other} ranks before it"


def _served(view: View, decision: Decision) -> dict[int, str]:
    """Return the systems claimed by the recipes whose claims a decision ends because they are served."""
    return {
        view.claims[event.system]: event.system
        for _, event in decision.events
        if isinstance(event, RecipeClaimEnded) and event.reason == SERVED
    }


def _grant(
    view: View, number: int, event: Event, newly: Collection[int], claimed: str | None
) -> Iterator[str]:
    name: str = event.system  # type: ignore[attr-defined]
    if name not in view.lab:
        yield f"another partition: recipe {number} got {name}"
        return
    lab = view.lab[name]
    if view.usage[name] not in ("idle", "pending"):
        yield f"double booking: recipe {number} got {name}, which is {view.usage[name]}"
    if name not in view.usable[number] or view.lab_of(view.set_of[number]) not in (None, lab):
        yield f"recipe {number} got {name}, which it may not have"
    if view.is_held_back(view.set_of[number]):
        yield f"held back: recipe {number} got {name}"
    yield from _room(view, number, name)
    named: int | None = event.overtook  # type: ignore[attr-defined]
    if named is not None and view.overtaken.get(view.set_of[named], 0) >= view.max_overtaken:
        yield f"overtaken too often: recipe {number} was preferred to recipe {named}"
    claimant = view.claims.get(name)
    if claimant is not None and could_take(view, claimant, name):
        yield f"claim passed over: recipe {number} got {name}, which recipe {claimant} claims"
    place = view.queue_turn(view.set_of[number]), _place(view, number, name, newly)
    # The claimed system asks its claimant first.
    for other, state in view.state.items() if claimed != name else ():
        theirs = view.queue_turn(view.set_of[other]), _place(view, other, name, newly)
        stands_before = state in ("queued", "assigned") and theirs < place
        if stands_before and view.set_of[other] != view.set_of[number] and could_take(view, other, name):
            yield f"queue jump: recipe {number} got {name}, and recipe {other} ranks before it"
    expected = _overtaken(view, number, event, newly)
    if named != expected:
        yield f"miscounted overtaking: recipe {number} overtook recipe {expected}, and names {named}"


def _room(view: View, number: int, name: str) -> Iterator[str]:
    """Yield faults of a grant without room, or before a set that lacks only this room."""
    set_id = view.set_of[number]
    if not view.has_room(set_id):
        yield f"no room: recipe {number} got {name}"
    elif is_room_kept_from(view, set_id):
        yield f"room is kept: recipe {number} got {name}"
    if view.is_charged(set_id):
        return
    for other, state in view.state.items():
        theirs = view.set_of[other]
        stands_before = state == "queued" and view.room_turn(theirs) < view.room_turn(set_id)
        if stands_before and view.has_room(theirs) and not view.has_room(theirs, set_id):
            idle = [each for each, usage in view.usage.items() if usage == "idle" and each != name]
            if any(could_take(view, other, each) for each in idle):
                yield f"room jump: recipe {number} got {name}, and recipe {other} comes before it"


def _locks(view: View, decision: Decision) -> Iterator[str]:
    """Yield faults of the locks that sets get, or do not get, in a decision that the view has."""
    numbers = [
        int(split_subject(subject)[1])
        for subject, event in decision.events
        if event.TOPIC in ("recipe.waiting", "recipe.locked")
    ]
    for set_id in dict.fromkeys(view.set_of[number] for number in numbers):
        members = view.sets[set_id]
        before = {number: view.locks_held[number] for number in members}
        view.locks_held.update(dict.fromkeys(members))
        could_have = view.can_have_locks(set_id)
        view.locks_held.update(before)
        if {held is not None for held in before.values()} != {could_have}:
            what = "has no locks and could have them" if could_have else "got locks and may not have them"
            yield f"locks: set {set_id} {what}"
        elif could_have:
            for other in view.waiting_before(set_id):
                count = view.overtaken_for_locks[other] = view.overtaken_for_locks.get(other, 0) + 1
                if count > view.max_overtaken:
                    yield f"overtaken too often: set {other} waits for locks"


def _overtaken(view: View, number: int, event: Event, newly: Collection[int]) -> int | None:
    """Return the first queued recipe of an earlier set that a grant to an assigned recipe overtakes."""
    name: str = event.system  # type: ignore[attr-defined]
    *priorities, is_queued, _, submission, _ = _place(view, number, name, newly)
    if is_queued:
        return None
    queued = (other for other, state in view.state.items() if state == "queued" and not view.is_owed(other))
    queue = view.queue_of[view.set_of[number]]
    in_line = (other for other in queued if view.shares is None or view.queue_of[view.set_of[other]] == queue)
    places = sorted(_place(view, other, name, newly) for other in in_line)
    return next(
        (
            other
            for *theirs, _, _, theirs_submitted, other in places
            if theirs <= priorities and theirs_submitted < submission and could_take(view, other, name)
        ),
        None,
    )


def _place(
    view: View, number: int, name: str, newly: Collection[int]
) -> tuple[int, int, bool, int, int, int]:
    """Return the place of a recipe on a system: by both priorities, assigned first, weight, submission.

    A new recipe ranks as if it were queued, and so does one that became assigned in the same batch. A recipe
    of an owed set ranks as if it were assigned.
    """
    nominal, submission, last = view.rank[number]
    effective = max(nominal, view.highest.get((number, name), len(URGENCY)))
    is_queued = (view.state[number] != "assigned" or number in newly) and not view.is_owed(number)
    return effective, nominal, is_queued, view.weight(view.set_of[number]), submission, last


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
