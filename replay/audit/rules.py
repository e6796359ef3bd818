"""All invariants, and the rules that apply to the decisions of each policy version."""

from __future__ import annotations

from typing import NamedTuple

from replay.audit.booking import InStep, OneRecipePerSystem
from replay.audit.deadlines import TreesAwayInTime, WatchdogsInTime
from replay.audit.decisions import Decisions, NobodyFencedWrites, WholeCommits
from replay.audit.failures import BrokenWhenFailing
from replay.audit.grants import (
    AllowedGrant,
    LentSystem,
    NobodyJumped,
    NobodyOverlooked,
    NoUnsafeGrant,
    OfDecisions,
    UsableGrant,
)
from replay.audit.invariant import Invariant
from replay.audit.kept import KeptAsAsked
from replay.audit.pending import TheQueueIsAsked
from replay.audit.reasons import EveryUnplacedRecipeHasAReason
from replay.audit.reservations import RightfulReservation
from replay.audit.together import OneLabPerSet, StartsTogether
from replay.audit.transitions import LegalTransitions
from replay.audit.understood import Understood
from replay.audit.viable import Judge


def of_the_log() -> tuple[Invariant, ...]:
    """Return new instances of the invariants that check the log itself."""
    return (
        WholeCommits(),
        Understood(),
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


class OnDecisions:
    """The invariants that check decisions against the scheduler's view, by the moment of the check."""

    def __init__(self, judge: Judge, *, in_batches: bool) -> None:
        every: tuple[OfDecisions, ...] = (
            UsableGrant(judge),
            LentSystem(judge),
            AllowedGrant(judge),
            NobodyJumped(judge, in_batches=in_batches),
            NobodyOverlooked(judge),
            NoUnsafeGrant(judge),
        )
        self.at_grant = [one for one in every if type(one).grant is not OfDecisions.grant]
        self.unwanted = [one for one in every if type(one).unwanted is not OfDecisions.unwanted]
        self.decided = [one for one in every if type(one).decided is not OfDecisions.decided]


class Judged(NamedTuple):
    """The rules of a policy version.

    `by_access`: policies and loans count. `by_contact`: silent labs get no recipes. `in_batches`: triggers
    are answered in batches, in the order at the beginning of the batch.
    """

    by_access: bool
    by_contact: bool
    in_batches: bool


EVERYTHING = Judged(by_access=True, by_contact=True, in_batches=True)
# Policy version -> its rules. Grants of other versions are not checked. None: decisions without a version.
JUDGED: dict[int | None, Judged] = {
    2: Judged(by_access=False, by_contact=False, in_batches=False),
    3: Judged(by_access=False, by_contact=False, in_batches=False),
    4: Judged(by_access=True, by_contact=False, in_batches=False),
    5: EVERYTHING,
    None: Judged(by_access=True, by_contact=True, in_batches=False),
}
