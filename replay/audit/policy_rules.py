"""All invariants, and the rules that apply to the decisions of each policy version."""

from __future__ import annotations

from typing import NamedTuple

from replay.audit.deadlines import TreesAwayInTime, WatchdogsInTime
from replay.audit.decisions import Decisions, NobodyFencedWrites, WholeCommits
from replay.audit.failures import BrokenWhenFailing
from replay.audit.grants import (
    AllowedGrant,
    DecisionInvariant,
    LentSystem,
    NobodyJumped,
    NobodyOverlooked,
    NoUnsafeGrant,
    UsableGrant,
)
from replay.audit.invariant import Invariant
from replay.audit.pending_systems import TheQueueIsAsked
from replay.audit.placement import InStep, OneRecipePerSystem
from replay.audit.recipe_records import EveryUnplacedRecipeHasAReason, ReadableRequirements
from replay.audit.recipe_sets import OneLabPerSet, StartsTogether
from replay.audit.reservations import KeptAsAsked, RightfulReservation
from replay.audit.system_matcher import SystemMatcher
from replay.audit.transitions import LegalTransitions


def log_invariants() -> tuple[Invariant, ...]:
    """Return new instances of the invariants that check the log itself."""
    return (
        WholeCommits(),
        ReadableRequirements(),
        LegalTransitions(),
        OneRecipePerSystem(),
        InStep(),
        TheQueueIsAsked(),
        OneLabPerSet(),
        StartsTogether(),
        RightfulReservation(),
        WatchdogsInTime(),
        TreesAwayInTime(),
        BrokenWhenFailing(),
        KeptAsAsked(),
        EveryUnplacedRecipeHasAReason(),
        Decisions(),
        NobodyFencedWrites(),
    )


class DecisionInvariants:
    """The invariants that check decisions against the scheduler's view, by the time of the check."""

    def __init__(self, matcher: SystemMatcher, *, in_batches: bool) -> None:
        every: tuple[DecisionInvariant, ...] = (
            UsableGrant(matcher),
            LentSystem(matcher),
            AllowedGrant(matcher),
            NobodyJumped(matcher, in_batches=in_batches),
            NobodyOverlooked(matcher),
            NoUnsafeGrant(matcher),
        )
        base = DecisionInvariant
        self.at_grant = [each for each in every if type(each).check_grant is not base.check_grant]
        self.at_idle = [each for each in every if type(each).check_idle is not base.check_idle]
        self.at_decision = [each for each in every if type(each).check_decision is not base.check_decision]


class PolicyRules(NamedTuple):
    """The rules of a policy version.

    With `by_access`, policies and loans restrict grants. With `by_contact`, silent labs get no recipes. With
    `in_batches`, triggers are answered in batches, in the order at the beginning of the batch.
    """

    by_access: bool
    by_contact: bool
    in_batches: bool


CURRENT_RULES = PolicyRules(by_access=True, by_contact=True, in_batches=True)
# Policy version -> rules. None stands for decisions without a version. Other versions are unchecked.
RULES_BY_POLICY: dict[int | None, PolicyRules] = {
    2: PolicyRules(by_access=False, by_contact=False, in_batches=False),
    3: PolicyRules(by_access=False, by_contact=False, in_batches=False),
    4: PolicyRules(by_access=True, by_contact=False, in_batches=False),
    5: CURRENT_RULES,
    None: PolicyRules(by_access=True, by_contact=True, in_batches=False),
}
