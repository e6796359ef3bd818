"""Invariants of a log at rest: the scheduler has read all of it and has nothing left to decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from replay.audit.invariant import Found, Violation
from replay.audit.known import Known
from replay.audit.safety import anything_runs, placeable, stuck, waiting_sets
from replay.audit.standing import takers
from replay.audit.viable import Judge


def at_rest_in(world: Known, judge: Judge) -> Iterator[Violation]:
    """Yield the violations in a world in which every trigger is answered."""
    for question in QUESTIONS:
        yield from question(world, judge)


def nothing_unanswered(world: Known, _: Judge) -> Found:
    """Every new recipe was answered, and every pending system."""
    for recipe in world.recipes.values():
        if recipe.state == "new":
            yield Violation("nothing_unanswered", (), (recipe.subject,), "it is still new")
    for system in world.systems.values():
        if system.usage == "pending":
            yield Violation("nothing_unanswered", (), (system.subject,), "it is still pending")


def no_idle_system_wanted(world: Known, judge: Judge) -> Found:
    """No recipe waits beside an idle system that it could take safely."""
    for system in world.systems.values():
        if system.usage == "idle":
            for recipe in takers(world, judge, system):
                what = f"{system.fqdn} is idle, but {recipe.subject} could take it"
                yield Violation("no_idle_system_wanted", (), (recipe.subject, system.subject), what)


def no_holder_stuck(world: Known, judge: Judge) -> Found:
    """Every set that holds systems can still get the rest of them; otherwise it should have let go."""
    for number in (number for lab in sorted(world.holding) for number in stuck(world, judge, lab)):
        what = "it holds systems, but cannot get the others, whichever recipes finish"
        yield Violation("no_holder_stuck", (), _members(world, number), what)


def no_deadlock(world: Known, judge: Judge) -> Found:
    """If nothing runs, no set waits that could be placed if no other recipe had a system.

    While a recipe runs, the systems that it frees will raise triggers: then the other checks suffice.
    """
    if anything_runs(world):
        return
    for number in waiting_sets(world):
        if labs := placeable(world, judge, number):
            what = f"it could have all its systems in {', '.join(labs)}, but nothing runs"
            yield Violation("no_deadlock", (), _members(world, number), what)


def _members(world: Known, number: int) -> tuple[str, ...]:
    return f"recipe-set/{number}", *(member.subject for member in world.members(number))


QUESTIONS: tuple[Callable[[Known, Judge], Iterator[Violation]], ...] = (
    nothing_unanswered,
    no_idle_system_wanted,
    no_holder_stuck,
    no_deadlock,
)
