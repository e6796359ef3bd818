"""Invariants of a log at rest: the scheduler has read it completely, and nothing is left to decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from replay.audit.admission import WAITS, effect, holds_nothing
from replay.audit.awaited_locks import claims, wishes
from replay.audit.invariant import Violation, Violations
from replay.audit.matching import labs_with_room
from replay.audit.ranking import eligible_recipes
from replay.audit.safety import anything_runs, stuck_holders, waiting_sets
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher


def violations_at_rest(view: SchedulerView, matcher: SystemMatcher) -> Iterator[Violation]:
    """Yield the violations in a world in which every trigger is answered."""
    for check in CHECKS:
        yield from check(view, matcher)


def nothing_unanswered(view: SchedulerView, _: SystemMatcher) -> Violations:
    """Every new recipe was answered, and every pending system."""
    for recipe in view.recipes.values():
        if recipe.state == "new":
            yield Violation("nothing_unanswered", (), (recipe.subject,), "it is still new")
    for system in view.systems.values():
        if system.usage == "pending" and view.has_lab(system.lab):
            yield Violation("nothing_unanswered", (), (system.subject,), "it is still pending")


def no_idle_system_wanted(view: SchedulerView, matcher: SystemMatcher) -> Violations:
    """No recipe waits beside an idle system that it could take safely, also none whose set needs room."""
    for system in view.systems.values():
        if system.usage == "idle":
            for recipe in eligible_recipes(view, matcher, system):
                needs_room = holds_nothing(view, recipe.set_id) and view.needs(recipe.set_id)
                name = "room_overlooked" if needs_room else "no_idle_system_wanted"
                what = f"{system.fqdn} is idle, but {recipe.subject} could take it"
                yield Violation(name, (), (recipe.subject, system.subject), what)


def no_holder_stuck(view: SchedulerView, matcher: SystemMatcher) -> Violations:
    """Every set that holds systems can still get the rest of them; otherwise it should have let go."""
    for number in (number for lab in sorted(view.holding) for number in stuck_holders(view, matcher, lab)):
        what = "it holds systems, but cannot get the others, whichever recipes finish"
        yield Violation("no_holder_stuck", (), _members(view, number), what)


def no_deadlock(view: SchedulerView, matcher: SystemMatcher) -> Violations:
    """No set waits that an empty lab could serve, unless a recipe runs, whose end will be a trigger."""
    if anything_runs(view):
        return
    for number in waiting_sets(view):
        if labs := labs_with_room(view, matcher, number):
            what = f"it could have all its systems in {', '.join(labs)}, but nothing runs"
            yield Violation("no_deadlock", (), _members(view, number), what)


def no_end_overlooked(view: SchedulerView, _: SystemMatcher) -> Violations:
    """No set waits that a job filter rejects, or whose dependency has ended in another state than named."""
    for number in sorted({recipe.set_id for recipe in view.recipes.values()}):
        found = effect(view, number)
        if found not in (None, WAITS):
            what = f"by its admission it {found}, but it still waits"
            yield Violation("no_end_overlooked", (), _members(view, number), what)


def no_lock_overlooked(view: SchedulerView, _: SystemMatcher) -> Violations:
    """No set waits for locks that it could have."""
    for claim in claims(view, wishes(view)):
        if claim.is_free:
            what = "it waits for locks that it could have"
            yield Violation("no_lock_overlooked", (), _members(view, claim.wish.set_id), what)


def _members(view: SchedulerView, number: int) -> tuple[str, ...]:
    return f"recipe-set/{number}", *(member.subject for member in view.members(number))


CHECKS: tuple[Callable[[SchedulerView, SystemMatcher], Iterator[Violation]], ...] = (
    nothing_unanswered,
    no_idle_system_wanted,
    no_holder_stuck,
    no_deadlock,
    no_end_overlooked,
    no_lock_overlooked,
)
