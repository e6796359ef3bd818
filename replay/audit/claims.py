"""The invariant of claims: waiting recipes claim busy systems, and each claim ends for a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from replay.audit.affected import Affected
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import Commit, EventRecord
from replay.audit.tables import (
    CLAIM_ENDED,
    CLAIMED,
    ENDED,
    FINISHED,
    GIVEN_UP,
    IN_QUEUE,
    NO_ROOM,
    OVER,
    SERVED,
    SYSTEM_AWAY,
)
from replay.audit.times import time_of
from replay.audit.values import Recipe, SystemClaim
from replay.audit.weight_formula import settings_of
from replay.audit.world import FoldedWorld

CAUSE = "timer/claim/"
# The default of `claims.for_ticks`.
FOR_TICKS = 120
REASONS = (SERVED, ENDED, SYSTEM_AWAY, NO_ROOM, OVER)


class EndedClaim(NamedTuple):
    """The end of a claim in the present commit, and whether the recipe forced the system."""

    record: EventRecord
    is_forced: bool

    @property
    def reason(self) -> Any:
        return self.record.data["reason"]


class ClaimsInOrder(Invariant):
    """A waiting recipe has at most one claim, a system too; claims begin and end for a reason and in time."""

    name = "claims_in_order"
    topics = (CLAIMED, CLAIM_ENDED, "recipe.scheduled", *(f"recipe.{state}" for state in FINISHED))

    def __init__(self) -> None:
        # The ends of claims in the present commit that are not served yet, and the new claims by force.
        self._ends: list[EndedClaim] = []
        self._forced: list[EventRecord] = []

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        if record.topic == CLAIMED:
            faults = _faults_of_claim(world, record)
            if record.data["forced"]:
                self._forced.append(record)
        elif record.topic == CLAIM_ENDED:
            faults = _faults_of_end(world, record)
            recipe = world.recipes.get(int(record.name))
            is_forced = recipe is not None and recipe.claim is not None and recipe.claim.forced
            self._ends.append(EndedClaim(record, is_forced))
        else:
            faults = self._faults_of_move(world, record)
        for fault in faults:
            yield self.violation([record.position], _subjects(record), fault)

    def _faults_of_move(self, world: FoldedWorld, record: EventRecord) -> Iterator[str]:
        """Yield the faults of an event that places or finishes a recipe, which may have no claim then."""
        recipe = world.recipes.get(int(record.name))
        if recipe is not None and recipe.claim is not None:
            yield f"{record.topic}, but it still claims {recipe.claim.system}"
        if record.topic != "recipe.scheduled":
            return
        own = [end for end in self._ends if end.record.name == record.name]
        self._ends = [end for end in self._ends if end not in own or end.reason != SERVED]
        if own and own[-1].record.number == record.number and own[-1].reason != SERVED:
            yield f"it got a system, but its claim ended with the reason {own[-1].reason!r}"

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        ends, self._ends = self._ends, []
        forced, self._forced = self._forced, []
        for end in ends:
            if end.reason == SERVED:
                what = "its claim was served, but the commit grants it no system afterwards"
                yield self.violation([end.record.position], _subjects(end.record), what)
            elif end.reason == ENDED and not _is_given_up(world, end.record):
                what = "its claim ended, but it still waits, and "
                if end.is_forced:
                    what += "it forces the system"
                elif _is_replaced(end.record, forced):
                    continue
                else:
                    what += "no other recipe claims the system by force"
                yield self.violation([end.record.position], _subjects(end.record), what)


def _faults_of_claim(world: FoldedWorld, record: EventRecord) -> Iterator[str]:
    recipe, fqdn, forced = world.recipes.get(int(record.name)), record.data["system"], record.data["forced"]
    if record.basis is None:
        yield "it claims a system without a decision"
    if recipe is None or recipe.is_guest or recipe.state not in IN_QUEUE:
        yield f"it claims {fqdn}, but does not wait as a host"
        return
    if recipe.claim is not None:
        yield f"it claims {fqdn}, but claims {recipe.claim.system} already"
    other = world.claims.get(fqdn)
    if other is not None and other != recipe.recipe_id:
        yield f"it claims {fqdn}, which recipe/{other} claims already"
    if forced is not (recipe.requirements.forced == fqdn.casefold()):
        yield f"its claim to {fqdn} has forced={forced}, but it forces {recipe.requirements.forced}"
    if not forced:
        recipe_set = world.sets.get(recipe.set_id)
        since = None if recipe_set is None else recipe_set.recorded_at
        after_ticks = _claim_section(world, recipe).get("after_ticks")
        yield from _faults_of_timer(world, recipe, record, since, after_ticks)


def _faults_of_end(world: FoldedWorld, record: EventRecord) -> Iterator[str]:
    recipe, fqdn, reason = world.recipes.get(int(record.name)), record.data["system"], record.data["reason"]
    claim = None if recipe is None else recipe.claim
    if recipe is None or claim is None or claim.system != fqdn:
        yield f"it ends a claim to {fqdn}, but claims {None if claim is None else claim.system}"
        return
    if reason not in REASONS:
        yield f"its claim ends with the unknown reason {reason!r}"
    if record.basis is None and reason != ENDED:
        yield f"its claim ends with the reason {reason!r} without a decision"
    if reason == OVER:
        yield from _faults_of_expiry(world, recipe, claim, record)


def _faults_of_expiry(
    world: FoldedWorld, recipe: Recipe, claim: SystemClaim, record: EventRecord
) -> Iterator[str]:
    if claim.forced:
        yield f"its claim to {claim.system} is over, but it forces the system"
    for_ticks = _claim_section(world, recipe).get("for_ticks", FOR_TICKS)
    yield from _faults_of_timer(world, recipe, record, claim.since, for_ticks)


def _faults_of_timer(
    world: FoldedWorld, recipe: Recipe, record: EventRecord, since: Any, ticks: int | None
) -> Iterator[str]:
    """Yield the faults of an event that only a timer causes, at the earliest some ticks after a time.

    No event changes the configuration between the basis and the commit of such a decision.
    """
    if record.cause != CAUSE + record.name:
        yield f"{record.topic} by age has the cause {record.cause}"
    begin, now = time_of(since), time_of(record.now)
    if ticks is None:
        yield "it claims a system by age, but its partition has no age for claims"
    elif begin is not None and now is not None:
        tick = settings_of(world.configuration_of(recipe.partition).get("weights", {})).tick
        if max(now - begin, 0 * tick) // tick < ticks:
            yield f"{record.topic} by age at {now}, less than {ticks} ticks after {begin}"


def _claim_section(world: FoldedWorld, recipe: Recipe) -> Any:
    return world.configuration_of(recipe.partition).get("claims", {})


def _is_given_up(world: FoldedWorld, record: EventRecord) -> bool:
    finished = world.finished.get(int(record.name))
    return finished is not None and finished.state in GIVEN_UP


def _is_replaced(record: EventRecord, forced: list[EventRecord]) -> bool:
    """Return whether another recipe claims the system by force after the end of a claim."""
    fqdn = record.data["system"]
    return any(
        each.data["system"] == fqdn and each.name != record.name and each.position > record.position
        for each in forced
    )


def _subjects(record: EventRecord) -> tuple[str, ...]:
    fqdn = record.data.get("system")
    return (record.subject,) if fqdn is None else (record.subject, f"system/{fqdn}")
