"""A story told at chosen moments: the log's own clock would make every wait a moment long."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from tests.projections.happened import Happened
from tests.projections.projected_log import ProjectedLog

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


def commit_at(models: ProjectedLog, commits: Iterable[tuple[float, list[Happened]]], page: int = 1) -> None:
    """Commits, each so many seconds after the beginning; `page` of them are folded at once."""
    moments = list(commits)
    for first in range(0, len(moments), page):
        written = {}
        for seconds, happened in moments[first : first + page]:
            moment = BEGINNING + timedelta(seconds=seconds)
            written |= dict.fromkeys(models.write(*happened), moment)
        models.project([one._replace(recorded_at=written[one.position]) for one in models.unread()])
