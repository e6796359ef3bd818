"""The consistency loop (design section 4.5): decisions that no event triggers, such as expired deadlines.

The time and the last contacts of lab controllers are passed as data. The cause of a decision names the timer
(`timer/watchdog/12`). States that should never occur are counted, and corrected if possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Final

from domain.directory.events import LabControllerHeard, LabControllerSilent
from domain.events import Decided, Event
from domain.intake_states import STOPPED
from domain.job.events import JobClosed
from domain.recipe.state import Recipe
from domain.recipe_set.kept_systems import end_kept, give_up
from domain.recipe_set.members import Members
from domain.recipe_set.provisioning import ProvisioningFailure, provisioning_failed
from domain.scheduling.decisions.claim_timers import claim_by_age, end_by_age
from domain.scheduling.decisions.departed_trees import abort_without_tree
from domain.scheduling.decisions.draft import Decision, Draft, with_batch
from domain.scheduling.decisions.ending_sets import Ending, end_set, is_due
from domain.scheduling.decisions.lock_grants import grant_locks
from domain.scheduling.decisions.maintenance import begin_and_end_windows
from domain.scheduling.decisions.preemption import preempt
from domain.scheduling.decisions.wake_up_grants import all_idle
from domain.scheduling.supply.reasons import (
    JOB_IDLE,
    LOAN_OVER,
    RESERVATION_OVER,
    WATCHDOG_EXPIRED,
)
from domain.scheduling.world.conservation import LAWS
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import TIMER, Trigger
from domain.system_admin.loan import end_loan
from domain.system_admin.reservation import end as end_reservation

SILENT_AFTER_SECONDS: Final = 300


@dataclass(frozen=True)
class LoopInput:
    """The time, and the time of the last contact of each lab controller.

    `may_expire` is False while the clock is not trusted: then no deadline expires, and no lab controller
    becomes silent.
    """

    now: datetime
    last_heard: Mapping[str, datetime]
    may_expire: bool = True


@dataclass
class Findings:
    """Counts of the corrections of the loop. The last four are 0 unless Labledger has a bug.

    So are all counts in `violations`, of the conservation laws by name.
    """

    watchdogs_expired: int = 0
    reservations_ended: int = 0
    loans_ended: int = 0
    distro_trees_left: int = 0
    jobs_closed: int = 0
    claims_begun: int = 0
    claims_over: int = 0
    preemptions: int = 0
    maintenance_changes: int = 0
    labs_changed: int = 0
    idle_but_wanted: int = 0
    lock_overlooked: int = 0
    end_overlooked: int = 0
    room_overlooked: int = 0
    violations: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(LAWS, 0)))

    @property
    def never_happen(self) -> int:
        overlooked = self.lock_overlooked + self.end_overlooked + self.room_overlooked
        return self.idle_but_wanted + overlooked + self.violations.total()

    def by_name(self) -> dict[str, int]:
        """Return all counts but those of violations."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "violations"}


def correct(partition: Partition, clock: LoopInput, findings: Findings) -> list[Decision]:
    """Return the decisions of all checks for one commit, and count them in `findings`.

    The caller confirms them or rolls them back, as after `decide`. Unanswered triggers do not prevent
    corrections, so that deadlines expire under any load.
    """
    partition.begin_tentative(clock.now)
    ending = frozenset[Check]() if clock.may_expire else ENDING
    left_out = ending | OVERLOOKED if partition.state == STOPPED else ending
    checks = (check for check in CHECKS if check not in left_out)
    decisions = [decision for check in checks for decision in check(partition, clock, findings)]
    return with_batch(partition, decisions)


def check_contacts(partition: Partition, clock: LoopInput, findings: Findings) -> list[Decision]:
    """Return the decisions about contacts of lab controllers only, for one commit."""
    partition.begin_tentative(clock.now)
    return with_batch(partition, list(_lab_controllers(partition, clock, findings)))


def has_silent_lab(partition: Partition) -> bool:
    """Return whether an enabled lab gets no recipes because its controller is silent."""
    return any(
        partition.has_lab(name) and entry.document["enabled"] and entry.document.get("silent")
        for name, entry in partition.directory.items("lab-controller")
    )


def _watchdogs(partition: Partition, clock: LoopInput, findings: Findings) -> Iterator[Decision]:
    recipes = partition.sets.recipes
    for recipe_id in partition.sets.watchdogs.expired(clock.now):
        recipe = recipes[recipe_id]
        # An earlier decision of this loop may have ended a guest with its host.
        if recipe.finished or not _is_late(recipe, clock):
            continue
        findings.watchdogs_expired += 1
        draft = _draft(partition, f"watchdog/{recipe_id}")
        members = partition.members(recipe.recipe_set_id)
        draft.add(_after_watchdog(partition, members, recipe))
        yield draft.decision()


def _is_late(recipe: Recipe, clock: LoopInput) -> bool:
    deadline = recipe.recorded_deadline
    return deadline is not None and deadline <= clock.now


def _after_watchdog(partition: Partition, members: Members, recipe: Recipe) -> Decided:
    """Return the events of an expired recipe: failed provisioning only if it was installing."""
    if recipe.state == "reserved":
        return end_kept(members, recipe)
    if recipe.state == "installing":
        broken_after = partition.directory.broken_after(recipe.lab_controller)
        return provisioning_failed(members, recipe, ProvisioningFailure(WATCHDOG_EXPIRED), broken_after)
    return give_up(members, recipe, WATCHDOG_EXPIRED)


def _reservations(partition: Partition, clock: LoopInput, findings: Findings) -> Iterator[Decision]:
    for fqdn in sorted(partition.reserved):
        reservation = partition.systems[fqdn].reservation
        if reservation is None or reservation.until is None or reservation.until > clock.now:
            continue
        findings.reservations_ended += 1
        draft = _draft(partition, f"reservation/{fqdn}")
        draft.add(end_reservation(partition.systems[fqdn], RESERVATION_OVER))
        yield draft.decision()


def _loans(partition: Partition, clock: LoopInput, findings: Findings) -> Iterator[Decision]:
    """End the loans whose time is over. Recipes of the borrower continue."""
    for fqdn in sorted(partition.lent):
        loan = partition.systems[fqdn].loan
        if loan is None or loan.until is None or loan.until > clock.now:
            continue
        findings.loans_ended += 1
        draft = _draft(partition, f"loan/{fqdn}")
        draft.add(end_loan(partition.systems[fqdn], LOAN_OVER))
        yield draft.decision()


def _distro_trees(partition: Partition, clock: LoopInput, findings: Findings) -> Iterator[Decision]:
    for decision in abort_without_tree(partition, clock.now):
        findings.distro_trees_left += 1
        yield decision


def _open_jobs(partition: Partition, clock: LoopInput, findings: Findings) -> Iterator[Decision]:
    """Close each open job 30 s after its last recipe has ended."""
    admission = partition.sets.admission
    for job in admission.open_jobs.to_close(clock.now, admission.unfinished_jobs):
        findings.jobs_closed += 1
        subject = f"job/{job.job_id}"
        trigger = Trigger(partition.position, TIMER, subject)
        # A set that is added in the same moment is a conflict.
        yield Decision(trigger, ((subject, JobClosed(JOB_IDLE)),), ((subject, job.version),))


def _claims_begun(partition: Partition, clock: LoopInput, findings: Findings) -> Iterator[Decision]:
    for decision in claim_by_age(partition, clock.now):
        findings.claims_begun += 1
        yield decision


def _claims_over(partition: Partition, clock: LoopInput, findings: Findings) -> Iterator[Decision]:
    for decision in end_by_age(partition, clock.now):
        findings.claims_over += 1
        yield decision


def _preemptions(partition: Partition, clock: LoopInput, findings: Findings) -> Iterator[Decision]:
    for decision in preempt(partition, clock.now):
        findings.preemptions += 1
        yield decision


def _maintenance(partition: Partition, clock: LoopInput, findings: Findings) -> Iterator[Decision]:
    """Drain the systems of maintenance windows, and undrain them after each."""
    for decision in begin_and_end_windows(partition, clock.now):
        findings.maintenance_changes += 1
        yield decision


def _lab_controllers(partition: Partition, clock: LoopInput, findings: Findings) -> Iterator[Decision]:
    """Mark lab controllers as silent that have stopped reporting, and as heard once they report."""
    limit = clock.now - timedelta(seconds=SILENT_AFTER_SECONDS)
    for name, entry in partition.directory.items("lab-controller"):
        heard = clock.last_heard.get(name) if partition.has_lab(name) else None
        silent = heard is not None and heard < limit
        if heard is None or silent == bool(entry.document.get("silent")) or (silent and not clock.may_expire):
            continue
        findings.labs_changed += 1
        event: Event = LabControllerSilent() if silent else LabControllerHeard()
        subject = f"lab-controller/{name}"
        trigger = Trigger(partition.position, TIMER, f"contact/{name}")
        yield Decision(trigger, ((subject, event),), ((subject, entry.version),))


def _conservation(partition: Partition, _: LoopInput, findings: Findings) -> Iterator[Decision]:
    """Count violations of the conservation laws; a person must decide which side is right."""
    findings.violations.update(partition.conservation.broken_laws(partition.systems))
    return iter(())


def _idle_but_wanted(partition: Partition, _: LoopInput, findings: Findings) -> Iterator[Decision]:
    """Grant idle systems to eligible recipes: the scheduler missed them, unless a trigger is unanswered."""
    if partition.triggers:
        return
    grants = all_idle(partition, _consistency(partition))
    while (granted := grants.next()) is not None:
        if granted.host.recipe_set_id in partition.sets.classes.limited:
            findings.room_overlooked += 1
        else:
            findings.idle_but_wanted += 1
        yield grants.grant_next()


def _end_overlooked(partition: Partition, _: LoopInput, findings: Findings) -> Iterator[Decision]:
    """End sets that admission rejects: the scheduler missed them, unless a trigger is unanswered."""
    if partition.triggers:
        return
    for recipe_set_id in sorted(partition.sets.admission.ending):
        if is_due(partition, recipe_set_id):
            findings.end_overlooked += 1
            yield end_set(partition, Ending(_consistency(partition), recipe_set_id))


def _lock_overlooked(partition: Partition, _: LoopInput, findings: Findings) -> Iterator[Decision]:
    """Give sets the locks that they could have: the scheduler missed them, unless a trigger is unanswered."""
    if partition.triggers:
        return
    while (recipe_set_id := partition.locks.next()) is not None:
        findings.lock_overlooked += 1
        yield grant_locks(partition, _consistency(partition), recipe_set_id)


def _consistency(partition: Partition) -> Trigger:
    return Trigger(partition.position, TIMER, "consistency")


Check = Callable[[Partition, LoopInput, Findings], Iterator[Decision]]

CHECKS: tuple[Check, ...] = (
    # First, because tentative decisions of other checks ease constraints: their wake-ups are answered later.
    _idle_but_wanted,
    _lock_overlooked,
    _end_overlooked,
    _watchdogs,
    _reservations,
    # After the reservations, so that no reservation ends twice.
    _loans,
    _distro_trees,
    _open_jobs,
    # A recipe whose claim is over claims a system again in the next run at the earliest.
    _claims_begun,
    _claims_over,
    _preemptions,
    _maintenance,
    _lab_controllers,
    _conservation,
)

OVERLOOKED: frozenset[Check] = frozenset(
    (_idle_but_wanted, _lock_overlooked, _end_overlooked, _claims_begun, _preemptions)
)
"""Checks for grants and claims, which a stopped partition does not give."""

ENDING: frozenset[Check] = frozenset(
    (
        *(_watchdogs, _reservations, _loans, _distro_trees, _open_jobs, _claims_over, _claims_begun),
        *(_preemptions, _maintenance),
    )
)
"""Checks of deadlines, which do not expire while the clock is not trusted."""


def _draft(partition: Partition, name: str) -> Draft:
    return Draft(partition, Trigger(partition.position, TIMER, name))
