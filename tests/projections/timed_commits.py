"""Commits at chosen times, because with the clock of the log all durations would be short."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from tests.projections.happened import Happened
from tests.projections.projected_log import ProjectedLog

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


def commit_at(models: ProjectedLog, commits: Iterable[tuple[float, list[Happened]]], page: int = 1) -> None:
    """Commit events at seconds after the beginning, and fold `page` commits at once."""
    moments = list(commits)
    for first in range(0, len(moments), page):
        written = {}
        for seconds, happened in moments[first : first + page]:
            moment = BEGINNING + timedelta(seconds=seconds)
            written |= dict.fromkeys(models.write(*happened), moment)
        models.project([one._replace(recorded_at=written[one.position]) for one in models.unread()])
