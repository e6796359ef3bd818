"""Pages of a search among jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from projections.job_search import ANY_JOB, Found, search
from tests.projections.projected_log import ProjectedLog

PAGE = 3
CANDIDATES = 7


def pages(models: ProjectedLog, at: int, **filters: Any) -> Iterator[Found]:
    """Yield the pages of a search, each of few jobs among few candidates."""
    before: int | None = 2**31
    while before is not None:
        page = one_page(models, at, before, **filters)
        yield page
        assert page.last is None or page.last < before, "no page may begin where it ends"
        before = page.last


def one_page(models: ProjectedLog, at: int, before: int, **filters: Any) -> Found:
    steps = search({**ANY_JOB, **filters}, at, before, PAGE, CANDIDATES)
    rows = None
    while True:
        try:
            query, params = steps.send(rows) if rows is not None else next(steps)
        except StopIteration as end:
            return end.value
        rows = models.rows(query, **params)


def found_jobs(models: ProjectedLog, at: int, **filters: Any) -> list[int]:
    """Return the ids of all pages."""
    return [job_id for page in pages(models, at, **filters) for job_id in page.job_ids]
