"""What must hold when the scheduler has nothing left to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tests.checker.check import fail_on
from tests.checker.grants import in_queue
from tests.checker.invariant import Found, Violation
from tests.checker.record import Record
from tests.checker.safety import anything_runs, could_take_safely, placeable, stuck, waiting_sets
from tests.checker.viable import CouldRun, Judge, could_run
from tests.checker.world import World


def at_rest(records: Iterable[Record], could_run: CouldRun = could_run) -> list[Violation]:
    """Violations in the world at the end of a log, given that everything in it is answered."""
    world, judge = World(), Judge(could_run)
    for record in records:
        world.apply(record)
    return [violation for question in QUESTIONS for violation in question(world, judge)]


def assert_at_rest(records: Iterable[Record], could_run: CouldRun = could_run) -> None:
    fail_on(at_rest(records, could_run))


def nothing_unanswered(world: World, _: Judge) -> Found:
    """Every new recipe has been looked at, every pending system has been asked for."""
    for recipe in world.recipes.values():
        if recipe.state == "new":
            yield Violation("nothing_unanswered", (), (recipe.subject,), "it is still new")
    for system in world.systems.values():
        if system.usage == "pending":
            yield Violation("nothing_unanswered", (), (system.subject,), "it is still pending")


def no_idle_system_wanted(world: World, judge: Judge) -> Found:
    """No recipe waits beside an idle system that it could take without harm."""
    for system in world.systems.values():
        if system.usage == "idle":
            for recipe in in_queue(world):
                if could_take_safely(world, judge, recipe, system):
                    what = f"{system.fqdn} is idle, and {recipe.subject} could take it"
                    yield Violation("no_idle_system_wanted", (), (recipe.subject, system.subject), what)


def no_holder_stuck(world: World, judge: Judge) -> Found:
    """Every set that holds systems can still get the rest of them; else it had to let go."""
    labs = sorted({system.lab for system in world.systems.values()})
    for number in (number for lab in labs for number in stuck(world, judge, lab)):
        what = "it holds systems, and cannot get the rest whoever finishes"
        yield Violation("no_holder_stuck", (), _members(world, number), what)


def no_deadlock(world: World, judge: Judge) -> Found:
    """Where nothing runs any more, no set is left that could be placed if nobody else held anything.

    While something runs, what it frees will be asked for: then the other questions are enough.
    """
    if anything_runs(world):
        return
    for number in waiting_sets(world):
        if labs := placeable(world, judge, number):
            what = f"it could have all its systems in {', '.join(labs)}, and nothing runs"
            yield Violation("no_deadlock", (), _members(world, number), what)


def _members(world: World, number: int) -> tuple[str, ...]:
    return f"recipe-set/{number}", *(member.subject for member in world.members(number))


QUESTIONS: tuple[Callable[[World, Judge], Iterator[Violation]], ...] = (
    nothing_unanswered,
    no_idle_system_wanted,
    no_holder_stuck,
    no_deadlock,
)
