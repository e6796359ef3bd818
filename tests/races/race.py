"""A race: its preparation, two actors and the conditions afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.in_process.api_process import ApiProcess
from tests.races.conditions import Outcome
from tests.races.stage import RaceStage


@dataclass(frozen=True)
class Race:
    """A race. Without `other` the second actor is the scheduler, which answers all triggers."""

    prepare: Callable[[RaceStage], None]
    one: Callable[[RaceStage, ApiProcess], Outcome]
    other: Callable[[RaceStage, ApiProcess], Outcome] | None
    judge: Callable[[RaceStage, Outcome, Outcome], None]
