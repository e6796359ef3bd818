"""All invariants, and the rules that apply to the decisions of each policy version."""

from __future__ import annotations

from typing import NamedTuple

from replay.audit.claims import ClaimsInOrder
from replay.audit.conservation import laws
from replay.audit.deadlines import JobsClosedInTime, TreesAwayInTime, WatchdogsInTime
from replay.audit.decisions import Decisions, NobodyFencedWrites, WholeCommits
from replay.audit.failures import BrokenWhenFailing
from replay.audit.grants import (
    Admitted,
    AllowedGrant,
    DecisionInvariant,
    LentSystem,
    NobodyJumped,
    NobodyOverlooked,
    NoUnsafeGrant,
    UsableGrant,
)
from replay.audit.invariant import Invariant
from replay.audit.lock_records import MergedProfile, NarrowedLocks, NoConflictingLocks, StartsWithLocks
from replay.audit.lock_starts import DeclaredLocks, LocksAllAtOnce, NoLockJumped, NoLockOverlooked
from replay.audit.maintenance import MaintenanceInTime
from replay.audit.overtakings import CountedOvertaking
from replay.audit.partitions import GrantsInPartition, PartitionColumn, StoppedDecidesNothing
from replay.audit.pending_systems import TheQueueIsAsked
from replay.audit.placement import InStep, OneRecipePerSystem
from replay.audit.preemptions import RightfulPreemptions
from replay.audit.recipe_records import EveryUnplacedRecipeHasAReason, ReadableRequirements
from replay.audit.recipe_sets import OneLabPerSet, StartsTogether
from replay.audit.reservations import KeptAsAsked, RightfulReservation
from replay.audit.rightful_claims import RightfulClaims
from replay.audit.room_grants import NoRoomJumped
from replay.audit.system_matcher import SystemMatcher
from replay.audit.transitions import LegalTransitions


def log_invariants() -> tuple[Invariant, ...]:
    """Return new instances of the invariants that check the log itself."""
    return (
        WholeCommits(),
        ReadableRequirements(),
        MergedProfile(),
        NoConflictingLocks(),
        NarrowedLocks(),
        StartsWithLocks(),
        LegalTransitions(),
        OneRecipePerSystem(),
        InStep(),
        TheQueueIsAsked(),
        OneLabPerSet(),
        StartsTogether(),
        RightfulReservation(),
        WatchdogsInTime(),
        TreesAwayInTime(),
        JobsClosedInTime(),
        MaintenanceInTime(),
        ClaimsInOrder(),
        BrokenWhenFailing(),
        KeptAsAsked(),
        EveryUnplacedRecipeHasAReason(),
        Decisions(),
        NobodyFencedWrites(),
        PartitionColumn(),
        GrantsInPartition(),
        StoppedDecidesNothing(),
        *laws(),
    )


class DecisionInvariants:
    """The invariants that check decisions against the scheduler's view, by the time of the check."""

    def __init__(self, matcher: SystemMatcher, rules: PolicyRules) -> None:
        every: tuple[DecisionInvariant, ...] = (
            UsableGrant(matcher),
            LentSystem(matcher),
            AllowedGrant(matcher),
            NobodyJumped(
                matcher,
                in_batches=rules.in_batches,
                bound_first=rules.bound_first,
                by_weight=rules.by_weight,
                with_claims=rules.with_claims,
            ),
            NobodyOverlooked(matcher),
            NoUnsafeGrant(matcher),
        )
        if rules.with_admission:
            every += (Admitted(matcher), NoRoomJumped(matcher, with_claims=rules.with_claims))
        if rules.by_overtakings:
            every += (CountedOvertaking(matcher),)
        if rules.with_locks:
            every += (
                DeclaredLocks(matcher),
                LocksAllAtOnce(matcher),
                NoLockJumped(matcher),
                NoLockOverlooked(matcher),
            )
        if rules.with_claims:
            every += (RightfulClaims(matcher), RightfulPreemptions(matcher))
        base = DecisionInvariant
        self.at_begin = [each for each in every if type(each).check_begin is not base.check_begin]
        self.at_grant = [each for each in every if type(each).check_grant is not base.check_grant]
        self.at_idle = [each for each in every if type(each).check_idle is not base.check_idle]
        self.at_claim = [each for each in every if type(each).check_claim is not base.check_claim]
        self.at_start = [each for each in every if type(each).check_start is not base.check_start]
        self.at_decision = [each for each in every if type(each).check_decision is not base.check_decision]


class PolicyRules(NamedTuple):
    """The rules of a policy version.

    With `by_access`, policies and loans restrict grants. With `by_contact`, silent labs get no recipes. With
    `in_batches`, triggers are answered in batches, in the order at the beginning of the batch. With
    `bound_first`, recipes whose set is bound to the lab rank before all others, whatever their priority; with
    None, the configuration of the partition says whether they do. With `by_weight`, recipes with equal
    priorities rank by the weight of their set. With `by_overtakings`, grants name the recipe that they
    overtook. With `with_locks`, sets start when they get their locks. With `with_admission`, dependencies,
    job filters and limits hold sets back before their first system. With `with_claims`, systems ask their
    claimants first.
    """

    by_access: bool
    by_contact: bool
    in_batches: bool
    bound_first: bool | None
    by_weight: bool = False
    by_overtakings: bool = False
    with_locks: bool = False
    with_admission: bool = False
    with_claims: bool = False


CURRENT_RULES = PolicyRules(
    by_access=True,
    by_contact=True,
    in_batches=True,
    bound_first=None,
    by_weight=True,
    by_overtakings=True,
    with_locks=True,
    with_admission=True,
    with_claims=True,
)
WITHOUT_CLAIMS = CURRENT_RULES._replace(with_claims=False)
# Policy version -> rules. None stands for decisions without a version. Other versions are unchecked.
RULES_BY_POLICY: dict[int | None, PolicyRules] = {
    2: PolicyRules(by_access=False, by_contact=False, in_batches=False, bound_first=True),
    3: PolicyRules(by_access=False, by_contact=False, in_batches=False, bound_first=True),
    4: PolicyRules(by_access=True, by_contact=False, in_batches=False, bound_first=True),
    5: PolicyRules(by_access=True, by_contact=True, in_batches=True, bound_first=True),
    6: WITHOUT_CLAIMS,
    7: WITHOUT_CLAIMS,
    8: CURRENT_RULES,
    None: PolicyRules(by_access=True, by_contact=True, in_batches=False, bound_first=True),
}
