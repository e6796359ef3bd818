"""Invariants of recipe sets: one lab, a common start and, before the start, a common end."""

from __future__ import annotations

from replay.audit.affected import Affected
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import Commit, EventRecord
from replay.audit.tables import BEFORE_START, GIVEN_UP, PLACED
from replay.audit.values import Recipe
from replay.audit.world import FoldedWorld


class OneLabPerSet(Invariant):
    """The systems of a set are in one lab, and while it holds any, all its recipes are bound to that lab."""

    name = "one_lab_per_set"

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for number in affected.sets:
            members = world.members(number)
            subjects = f"recipe-set/{number}", *(member.subject for member in members)
            for fault in _lab_faults(world, members):
                yield self.violation(commit.about(*subjects), subjects, fault)


def _lab_faults(world: FoldedWorld, members: list[Recipe]) -> list[str]:
    labs = {lab for member in members for lab in _labs(world, member)}
    faults = [f"it is in {' and '.join(sorted(labs))}"] if len(labs) > 1 else []
    states = {member.state for member in members}
    hold = any(member.state == "scheduled" for member in members if not member.is_guest)
    if hold and states & {"new", "queued"}:
        faults.append("it holds a system, but one of its recipes is bound to no lab")
    if not hold and "assigned" in states:
        faults.append("it holds no system, but one of its recipes is assigned to a lab")
    return faults


def _labs(world: FoldedWorld, member: Recipe) -> list[str]:
    """Return the lab in the state of a recipe, and that of its system."""
    labs = [] if member.lab is None else [member.lab]
    if member.state in PLACED and member.system in world.systems:
        labs.append(world.systems[member.system].lab)
    return labs


class StartsTogether(Invariant):
    """All recipes of a set start in one commit, or end in one commit if they end before the start."""

    name = "starts_together"
    topics = tuple(f"recipe.{state}" for state in GIVEN_UP)

    def __init__(self) -> None:
        self._ended_early: list[tuple[EventRecord, int]] = []

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        recipe = world.recipes.get(int(record.name))
        if recipe is not None and (recipe.state in BEFORE_START or recipe.awaits_locks):
            self._ended_early.append((record, recipe.set_id))
        yield from ()

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        waiting = {int(record.name): record for record in commit.records if record.topic == "recipe.waiting"}
        started = {world.recipes[number].set_id for number in waiting if number in world.recipes}
        for number in sorted(started):
            yield from self._check_start(world, number, waiting)
        for number in affected.sets:
            yield from self._check_complete(world, number, commit)
        for record, number in self._ended_early:
            yield from self._check_end(world, number, record)
        self._ended_early.clear()

    def _check_start(self, world: FoldedWorld, number: int, waiting: dict[int, EventRecord]) -> Violations:
        members = world.members(number)
        late = [member.subject for member in members if member.recipe_id not in waiting]
        if late:
            positions = [
                waiting[member.recipe_id].position for member in members if member.recipe_id in waiting
            ]
            yield self.violation(
                positions, [f"recipe-set/{number}", *late], "it starts without these recipes"
            )

    def _check_complete(self, world: FoldedWorld, number: int, commit: Commit) -> Violations:
        hosts = world.hosts(number)
        if hosts and all(host.state == "scheduled" for host in hosts):
            subjects = f"recipe-set/{number}", *(host.subject for host in hosts)
            yield self.violation(
                commit.about(*subjects), subjects, "it has all its systems, but does not start"
            )

    def _check_end(self, world: FoldedWorld, number: int, record: EventRecord) -> Violations:
        left = [member.subject for member in world.members(number)]
        if left:
            what = f"{record.topic} before the start, but these recipes go on"
            yield self.violation([record.position], [record.subject, *left], what)
