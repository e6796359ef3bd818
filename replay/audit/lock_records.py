"""Invariants of the locks in the log: readable, merged to profiles, and never in conflict."""

from __future__ import annotations

from replay.audit.affected import Affected
from replay.audit.awaited_locks import profile_of
from replay.audit.invariant import Invariant, Violations
from replay.audit.locks import Locks, UnreadableLocks, covers, locks_of, readable, taken
from replay.audit.record import Commit, EventRecord
from replay.audit.world import FoldedWorld

REAL_LOCKS_FROM = 6
"""The first policy version whose decisions give locks."""

# Events of a recipe that has started, or of its system.
PROGRESS = (
    *(f"recipe.{state}" for state in ("installing", "running", "reserved", "completed")),
    *(f"recipe.task-{change}" for change in ("started", "result", "completed", "aborted")),
    *("recipe.watchdog-set", "recipe.extended", "system.provisioning-failed"),
)
LOST = ("recipe.queued", "recipe.assigned")
UNFIT = ("Broken", "Removed")


class MergedProfile(Invariant):
    """The profile of a submitted or changed set is the merge of the locks that its recipes declare."""

    name = "merged_profile"
    topics = ("recipe-set.submitted", "recipe-set.changed", "recipe.new", "recipe.changed")

    def __init__(self) -> None:
        # The submitted sets of the commit, with their profiles.
        self._submitted: dict[int, Locks] = {}

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        is_set = record.kind == "recipe-set"
        try:
            locks = locks_of(record.data.get("profile" if is_set else "locks"))
        except UnreadableLocks as error:
            what = f"its declared locks cannot be read: {error}"
            yield self.violation([record.position], [record.subject], what)
            return
        if is_set:
            self._submitted[int(record.name)] = locks

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for number, profile in self._submitted.items():
            if profile != profile_of(world, number):
                subject = f"recipe-set/{number}"
                what = "its profile is not the merge of the locks that its recipes declare"
                yield self.violation(commit.about(subject), [subject], what)
        self._submitted.clear()


class NoConflictingLocks(Invariant):
    """No two started sets hold conflicting locks; the whole-lab lock excludes every other set of its lab."""

    name = "no_conflicting_locks"
    topics = ("recipe.waiting", "recipe.locked", "recipe.locks-narrowed")

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        recipe = world.recipes.get(int(record.name))
        is_old = record.topic == "recipe.waiting" and (record.policy_version or 0) < REAL_LOCKS_FROM
        if recipe is None or is_old or (record.topic == "recipe.waiting" and not record.gives_locks):
            return
        locks = taken(readable(record.data.get("locks")))
        for number in sorted(world.held_locks[recipe.partition].in_the_way(locks, recipe.lab, recipe.set_id)):
            subjects = recipe.subject, f"recipe-set/{recipe.set_id}", f"recipe-set/{number}"
            what = f"its locks or its start conflict with the locks that recipe set {number} holds"
            yield self.violation([record.position], subjects, what)


class NarrowedLocks(Invariant):
    """Narrowed locks are covered by the held ones, and all held locks can be read."""

    name = "locks_covered"
    topics = ("recipe.waiting", "recipe.locked", "recipe.locks-narrowed")

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        recipe = world.recipes.get(int(record.name))
        try:
            locks = locks_of(record.data.get("locks"))
        except UnreadableLocks as error:
            yield self.violation([record.position], [record.subject], f"its locks cannot be read: {error}")
            return
        if recipe is None or record.topic != "recipe.locks-narrowed" or recipe.held is None:
            return
        if not covers(taken(recipe.held), taken(locks)):
            what = "its narrowed locks are not covered by those that it held"
            yield self.violation([record.position], [record.subject], what)


class StartsWithLocks(Invariant):
    """A set that waits for its locks reports nothing.

    It loses systems only if one is Broken, Removed or occupied, if a person changed the set, or by
    preemption, which `rightful_preemptions` checks.
    """

    name = "starts_with_locks"
    topics = (*PROGRESS, *LOST)

    def __init__(self) -> None:
        # By set: the first lost system of the commit, as an event, and the systems that the set had before.
        self._lost: dict[int, tuple[EventRecord, set[str]]] = {}

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        is_system = record.kind == "system"
        recipe = world.recipes.get(record.data["recipe_id"] if is_system else int(record.name))
        if recipe is None or not recipe.awaits_locks:
            return
        if record.data.get("preempted_by") is not None:
            return
        if record.topic in LOST:
            had = {member.system for member in world.members(recipe.set_id) if member.system is not None}
            self._lost.setdefault(recipe.set_id, (record, had))
        else:
            what = f"{record.topic}, but its set waits for its locks"
            yield self.violation([record.position], [recipe.subject], what)

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        changed = {record.subject for record in commit.records if record.topic == "recipe-set.changed"}
        for number, (record, had) in self._lost.items():
            subjects = record.subject, f"recipe-set/{number}"
            if subjects[1] not in changed and not any(_is_away(world, fqdn) for fqdn in had):
                what = (
                    "it loses a system while it waits for its locks, but none is Broken, Removed or occupied,"
                    " and nobody changed it"
                )
                yield self.violation([record.position], subjects, what)
        self._lost.clear()


def _is_away(world: FoldedWorld, fqdn: str) -> bool:
    system = world.systems.get(fqdn)
    return system is not None and (system.condition in UNFIT or system.occupied)
