"""A race: its preparation, two actors and the conditions afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.in_process.api_process import ApiProcess
from tests.races.conditions import Outcome
from tests.races.stage import RaceStage

Prepare = Callable[[RaceStage], None]
RequestOf = Callable[[RaceStage, ApiProcess], Outcome]
Judge = Callable[[RaceStage, Outcome, Outcome], None]


@dataclass(frozen=True)
class Race:
    """A race. Without `other` the second actor is the scheduler, which answers all triggers.

    With `may_leave_pending` a lab may leave with a pending system, which has no scheduler afterwards.
    """

    prepare: Prepare
    one: RequestOf
    other: RequestOf | None
    judge: Judge
    may_leave_pending: bool = False
