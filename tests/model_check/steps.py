"""One step: something is done, and the scheduler answers, alone or while something else is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.events import split_subject
from domain.scheduling.decisions.decide import decide
from domain.scheduling.decisions.draft import Decision
from tests.model_check import decisions as judged
from tests.model_check import invariants as rest
from tests.model_check.actions import Action, act, actions
from tests.model_check.copying import Copier
from tests.model_check.model import Model, key_of

MANY = 500


class Violation(AssertionError):
    """What must never happen has happened; `story` are the steps that lead there."""

    def __init__(self, what: str, world: Model) -> None:
        super().__init__(what)
        self.what, self.world, self.story = what, world, world.story


@dataclass(frozen=True)
class Manner:
    """How a step goes: which verbs there are, and how often others act, and whether the scheduler starts
    again, while it has not answered everything yet."""

    verbs: tuple[str, ...]
    races: int = 0
    restarts: bool = False


def successors(world: Model, manner: Manner, copier: Copier) -> Iterator[Model]:
    """Every quiet world that one step leads to."""
    for action in actions(world, manner.verbs):
        after = _done(copier.copy(world), action)
        if manner.races or manner.restarts:
            yield from _disturbed(copier.copy(after), manner, copier, manner.races)
        commits = settle(after, 1)
        yield after
        if commits > 1:
            after = _done(copier.copy(world), action)
            after.story += ("  (all in one commit)",)
            settle(after, MANY)
            yield after


def _disturbed(world: Model, manner: Manner, copier: Copier, races: int) -> Iterator[Model]:
    """What else may come of it: between any two commits of the scheduler others act, or it starts again."""
    if manner.restarts:
        _alike(world, copier)
    for action in actions(world, manner.verbs) if races else ():
        yield from _undisturbed_or_not(_done(copier.copy(world), action), manner, copier, races - 1)
        for limit in (1, MANY):
            raced = copier.copy(world)
            if commit_next(raced, limit, action):
                yield from _undisturbed_or_not(raced, manner, copier, races - 1)
    if commit_next(world, 1):
        yield from _disturbed(world, manner, copier, races)


def _undisturbed_or_not(world: Model, manner: Manner, copier: Copier, races: int) -> Iterator[Model]:
    if races:
        yield from _disturbed(copier.copy(world), manner, copier, races)
    settle(world, MANY)
    yield world


def _alike(world: Model, copier: Copier) -> None:
    """A scheduler that begins now asks some things once more, and comes to the same placements."""
    goes_on, begins = copier.copy(world), copier.copy(world)
    restart(begins)
    settle(goes_on, MANY)
    settle(begins, MANY)
    if key_of(begins) != key_of(goes_on):
        raise Violation("a scheduler that starts again comes to other placements", begins)


def restart(world: Model) -> None:
    world.partition = world.refolded()
    world.story += ("  the scheduler starts again",)


def settle(world: Model, limit: int) -> int:
    """Until the scheduler has nothing left to answer; how many commits that took."""
    commits = 0
    while commit_next(world, limit):
        commits += 1
    fail_on(rest.quiet(world), world)
    return commits


def commit_next(world: Model, limit: int, meanwhile: Action | None = None) -> bool:
    """Decide and commit once; False when there is nothing to decide.

    `meanwhile` is in the log before the decisions are: they are refused if it moved what they rest on.
    """
    decided = decide(world.partition, limit, world.now)
    if not decided:
        return False
    _note_batch(world, decided)
    fail_on(judged.faults(world, decided), world)
    basis = world.partition.position
    accepted = meanwhile is None or _raced(world, decided, meanwhile)
    if accepted:
        world.commit_decisions(decided, basis)
        world.newly_assigned |= frozenset(_assigned(decided))
    world.story += tuple(_said(decided)) if accepted else ("  refused",)
    fail_on(rest.always(world), world)
    return True


def _note_batch(world: Model, decided: Sequence[Decision]) -> None:
    batch = decided[0].batch
    assert batch is not None, "each decision says what it answers"
    if batch.upto != world.batch:
        world.batch, world.newly_assigned = batch.upto, frozenset()


def _assigned(decided: Sequence[Decision]) -> Iterator[int]:
    for subject, event in (each for decision in decided for each in decision.events):
        if event.TOPIC == "recipe.assigned":
            yield int(split_subject(subject)[1])


def _raced(world: Model, decided: Sequence[Decision], meanwhile: Action) -> bool:
    """Somebody else is first; the scheduler reads that after it knows what became of its own."""
    world.story += (f"  meanwhile: {meanwhile}",)
    unread = world.unread()
    act(world, meanwhile)
    accepted = _stands(world, decided)
    if accepted:
        # Not right behind what it knows: it reads it.
        unread.partition.confirm(0, 0, world.now)
    else:
        unread.partition.rollback()
    world.read(unread)
    return accepted


def _stands(world: Model, decided: Sequence[Decision]) -> bool:
    """Whether nothing that the decisions rest on has moved."""
    expected: dict[str, int] = {}
    for decision in decided:
        for subject, version in decision.expected:
            expected.setdefault(subject, version)
    return all(world.version(subject) == version for subject, version in expected.items())


def fail_on(faults: Iterator[str], world: Model) -> None:
    for fault in faults:
        raise Violation(fault, world)


def _done(world: Model, action: Action) -> Model:
    world.story += (str(action),)
    act(world, action)
    fail_on(rest.always(world), world)
    return world


def _said(decided: Sequence[Decision]) -> Iterator[str]:
    for decision in decided:
        events = ", ".join(f"{subject} {event.TOPIC.partition('.')[2]}" for subject, event in decision.events)
        yield f"  {decision.trigger.kind} {decision.trigger.name}: {events}"
