"""Histories to ask at any moment."""

from __future__ import annotations

from functools import cache

from replay.audit.record import Commit, commits, from_recorded
from tests.domain.scheduling.history import live
from tests.replay.audit.peopled import with_people


@cache
def lived(seed: int) -> list[Commit]:
    """Every other one of people who have different rights."""
    history = list(commits(from_recorded(live(seed, bursts=40, limit=3).log)))
    return with_people(history, seed) if seed % 2 else history
