"""All that a log is judged by."""

from __future__ import annotations

from typing import NamedTuple

from replay.audit.booking import InStep, OneRecipePerSystem
from replay.audit.deadlines import WatchdogsInTime
from replay.audit.decisions import Decisions, NobodyFencedWrites, WholeCommits
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
from replay.audit.pending import TheQueueIsAsked
from replay.audit.reasons import EveryUnplacedRecipeHasAReason
from replay.audit.reservations import RightfulReservation
from replay.audit.together import OneLabPerSet, StartsTogether
from replay.audit.transitions import LegalTransitions
from replay.audit.understood import Understood
from replay.audit.viable import Judge


def of_the_log() -> tuple[Invariant, ...]:
    """What is judged by what the log says; fresh, for one log."""
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
        EveryUnplacedRecipeHasAReason(),
        Decisions(),
        NobodyFencedWrites(),
    )


class OnDecisions:
    """What is judged by what the scheduler knew, by the moments at which it looks."""

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


class Policy(NamedTuple):
    """Whether a policy asks who may submit and who has borrowed; whether it answers triggers in batches."""

    by_access: bool
    in_batches: bool


# The policies whose grants must be as the rules written down here have it; who names none must, too.
POLICIES = {
    2: Policy(by_access=False, in_batches=False),
    3: Policy(by_access=False, in_batches=False),
    4: Policy(by_access=True, in_batches=False),
    5: Policy(by_access=True, in_batches=True),
    None: Policy(by_access=True, in_batches=False),
}
