"""One step: an action, and the answers of the scheduler, possibly with other actions in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.events import split_subject
from domain.scheduling.decisions.decide import decide
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.world.tentative import CommitPlace
from tests.model_check import decisions as judged
from tests.model_check import invariants as rest
from tests.model_check.actions import Action, act, actions
from tests.model_check.copying import Copier
from tests.model_check.model import ModelWorld, key_of
from tests.model_check.view import View, view_of

MANY = 500
# The events that may give a recipe its locks.
LOCKING = ("recipe.waiting", "recipe.locked")


class ModelViolation(AssertionError):
    """A broken invariant; `story` has the steps that lead to it."""

    def __init__(self, what: str, world: ModelWorld) -> None:
        super().__init__(what)
        self.what, self.world, self.story = what, world, world.story


@dataclass(frozen=True)
class Options:
    """The options of steps: the verbs, the number of races with the scheduler, and whether it restarts."""

    verbs: tuple[str, ...]
    races: int = 0
    restarts: bool = False


def successors(world: ModelWorld, options: Options, copier: Copier) -> Iterator[ModelWorld]:
    """Yield every quiet world after one step."""
    for action in actions(world, options.verbs):
        after = _done(copier.copy(world), action)
        if options.races or options.restarts:
            yield from _disturbed(copier.copy(after), options, copier, options.races)
        commits = settle(after, 1)
        yield after
        if commits > 1:
            after = _done(copier.copy(world), action)
            after.story += ("  (all in one commit)",)
            settle(after, MANY)
            yield after


def _disturbed(world: ModelWorld, options: Options, copier: Copier, races: int) -> Iterator[ModelWorld]:
    """Yield the worlds after other actions, or a restart, between two commits of the scheduler."""
    if options.restarts:
        _check_restart(world, copier)
    for action in actions(world, options.verbs) if races else ():
        yield from _undisturbed_or_not(_done(copier.copy(world), action), options, copier, races - 1)
        for limit in (1, MANY):
            raced = copier.copy(world)
            if commit_next(raced, limit, action):
                yield from _undisturbed_or_not(raced, options, copier, races - 1)
    if commit_next(world, 1):
        yield from _disturbed(world, options, copier, races)


def _undisturbed_or_not(
    world: ModelWorld, options: Options, copier: Copier, races: int
) -> Iterator[ModelWorld]:
    if races:
        yield from _disturbed(copier.copy(world), options, copier, races)
    settle(world, MANY)
    yield world


def _check_restart(world: ModelWorld, copier: Copier) -> None:
    """Check that a restarted scheduler, which answers some triggers again, makes the same placements."""
    goes_on, begins = copier.copy(world), copier.copy(world)
    restart(begins)
    settle(goes_on, MANY)
    settle(begins, MANY)
    if key_of(begins) != key_of(goes_on):
        raise ModelViolation("a restarted scheduler makes other placements", begins)


def restart(world: ModelWorld) -> None:
    for _ in world.turns():
        world.partition = world.refolded()
    world.story += ("  the scheduler starts again",)


def settle(world: ModelWorld, limit: int) -> int:
    """Run until the scheduler has nothing left to answer; return the number of commits."""
    commits = 0
    while commit_next(world, limit):
        commits += 1
    for _ in world.turns():
        fail_on(rest.quiet(world), world)
    return commits


def commit_next(world: ModelWorld, limit: int, meanwhile: Action | None = None) -> bool:
    """Decide and commit once; return False if there is nothing to decide.

    The first partition that has something to decide does. `meanwhile` is in the log before the decisions,
    which are refused if it changed their aggregates.
    """
    return any(_commit_next(world, limit, meanwhile) for _ in world.turns())


def _commit_next(world: ModelWorld, limit: int, meanwhile: Action | None) -> bool:
    decided = decide(world.partition, limit, world.now)
    if not decided:
        return False
    _note_batch(world, decided)
    fail_on(judged.faults(world, decided), world)
    view = view_of(world)
    basis = world.partition.position
    accepted = meanwhile is None or _raced(world, decided, meanwhile)
    if accepted:
        world.commit_decisions(decided, basis)
        world.newly_assigned |= frozenset(_assigned(decided))
        _count_overtakings(world, decided)
        _count_overtakings_for_locks(world, view, decided)
    world.story += tuple(_described(decided)) if accepted else ("  refused",)
    fail_on(rest.always(world), world)
    return True


def _note_batch(world: ModelWorld, decided: Sequence[Decision]) -> None:
    batch = decided[0].batch
    assert batch is not None, "each decision has a batch"
    if batch.upto != world.batch:
        world.batch, world.newly_assigned = batch.upto, frozenset()


def _assigned(decided: Sequence[Decision]) -> Iterator[int]:
    for subject, event in (each for decision in decided for each in decision.events):
        if event.TOPIC == "recipe.assigned":
            yield int(split_subject(subject)[1])


def _count_overtakings(world: ModelWorld, decided: Sequence[Decision]) -> None:
    for _, event in (each for decision in decided for each in decision.events):
        overtook = getattr(event, "overtook", None)
        if overtook is not None:
            number = world.recipes[overtook].recipe_set_id
            world.overtaken[number] = world.overtaken.get(number, 0) + 1


def _count_overtakings_for_locks(world: ModelWorld, view: View, decided: Sequence[Decision]) -> None:
    """Count the sets that were overtaken as others got their locks; `view` is that of the basis."""
    for decision in decided:
        got = [
            int(split_subject(subject)[1])
            for subject, event in decision.events
            if event.TOPIC in ("recipe.waiting", "recipe.locked")
            and getattr(event, "locks", None) is not None
        ]
        for subject, event in decision.events:
            view.apply(subject, event)
        for set_id in dict.fromkeys(view.set_of[number] for number in got):
            for other in view.waiting_before(set_id):
                world.overtaken_for_locks[other] = world.overtaken_for_locks.get(other, 0) + 1
    waiting = {number for number in view_of(world).sets if view_of(world).awaits_locks(number)}
    world.overtaken_for_locks = {
        number: count for number, count in world.overtaken_for_locks.items() if number in waiting
    }


def _raced(world: ModelWorld, decided: Sequence[Decision], meanwhile: Action) -> bool:
    """Append another action first; the scheduler reads it after the answer to its own append."""
    world.story += (f"  meanwhile: {meanwhile}",)
    unread = world.unread()
    act(world, meanwhile)
    accepted = _is_current(world, decided)
    if accepted:
        # Unread events precede the commit, so the scheduler reads the log.
        unread.partition.confirm(CommitPlace(0, 0, unread.partition.position + 1, world.now))
    else:
        unread.partition.rollback()
    world.read(unread)
    return accepted


def _is_current(world: ModelWorld, decided: Sequence[Decision]) -> bool:
    """Return whether the aggregates of the decisions are unchanged."""
    expected: dict[str, int] = {}
    for decision in decided:
        for subject, version in decision.expected:
            expected.setdefault(subject, version)
    return all(world.version(subject) == version for subject, version in expected.items())


def fail_on(faults: Iterator[str], world: ModelWorld) -> None:
    for fault in faults:
        raise ModelViolation(fault, world)


def _done(world: ModelWorld, action: Action) -> ModelWorld:
    world.story += (str(action),)
    act(world, action)
    fail_on(rest.always(world), world)
    return world


def _described(decided: Sequence[Decision]) -> Iterator[str]:
    for decision in decided:
        events = ", ".join(f"{subject} {event.TOPIC.partition('.')[2]}" for subject, event in decision.events)
        yield f"  {decision.trigger.kind} {decision.trigger.name}: {events}"
