"""The search among jobs as a generator of queries, which find candidates and compare them with the filters.

A page reads a limited number of rows, however many jobs there are. So it may have fewer jobs than its limit,
and still a next one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from domain.recipe.lifecycle import FINISHED
from projections.job_terms import ALL_JOBS, BLOCK_JOBS, WHITEBOARD, property_term, text_terms
from projections.read_sessions import NamedQuery, Row

Filters = Mapping[str, Any]

JOB_FILTERS: Final = (
    *("owner", "group", "partition", "state", "result"),
    *("whiteboard", "task", "product", "system", "since", "until"),
)
ANY_JOB: Final[Filters] = dict.fromkeys(JOB_FILTERS)
"""The parameters of a search without any filter."""

MAX_CANDIDATES: Final = 2_000
"""Maximum number of jobs that one page compares with the filters."""
MAX_BLOCKS: Final = 512
"""Maximum number of blocks whose terms one page reads: those of a million jobs."""
MAX_TEXT_TERMS: Final = 16
"""Maximum number of terms of a text that one page reads."""
MAX_LISTED: Final = 5_000
"""Maximum number of jobs of a system, or in a state, that one page reads."""
# With fewer, the terms would not save time.
_FEW_LISTED: Final = 500
# The number of candidates that one query compares, after the first one.
_BATCH: Final = 500
# The maximum number of ranges of ids that one page reads.
_MAX_RANGES: Final = 2
_OF_TERMS: Final = ("owner", "group", "partition", "product", "task")
# The result of jobs that have none has no term.
_NO_RESULT: Final = "New"


class Found(NamedTuple):
    """The ids of the matching jobs, newest first, and the last id that was read, None on the last page."""

    job_ids: list[int]
    last: int | None


NOTHING_FOUND: Final = Found([], None)
Steps = Generator[NamedQuery, Sequence[Row], Found]
"""Yields queries, takes their rows, and returns a page."""


class _Candidates(NamedTuple):
    """Jobs that may match, newest first. All other matching jobs have ids below `floor`."""

    job_ids: list[int]
    floor: int


@dataclass(frozen=True)
class _Bounds:
    """The row of `bounds_of_job_search`: the ids of the matching jobs are from `first` to before `before`."""

    first: int
    before: int
    after_position: int
    upto_position: int
    indexed_from: int
    open_from: int


def search(filters: Filters, at: int, before: int, limit: int, max_candidates: int = MAX_CANDIDATES) -> Steps:
    """Find a page of jobs with ids below `before`. `filters` has a value or None for each of JOB_FILTERS."""
    (row,) = yield "bounds_of_job_search", {**filters, "at": at, "before": before}
    return (yield from _JobSearch(filters, at, _Bounds(**row), limit, max_candidates).page())


class _JobSearch:
    def __init__(self, filters: Filters, at: int, bounds: _Bounds, limit: int, max_candidates: int) -> None:
        self._filters = filters
        self._bounds = bounds
        self._limit = limit
        self._remaining = max_candidates
        self._terms = sorted(_terms(filters))
        positions = {"after_position": bounds.after_position, "upto_position": bounds.upto_position}
        self._params: dict[str, Any] = {**filters, **positions, "at": at}

    def page(self) -> Steps:
        first, before = self._bounds.first, self._bounds.before
        found: list[int] = []
        for _ in range(_MAX_RANGES):
            if before <= first or self._remaining <= 0:
                break
            candidates = yield from self._candidates(before)
            job_ids, before = candidates
            if len(job_ids) > self._remaining:
                job_ids = job_ids[: self._remaining]
                before = job_ids[-1]
            self._remaining -= len(job_ids)
            for batch in _batches(job_ids, self._limit):
                params = {**self._params, "job_ids": batch, "limit": self._limit - len(found)}
                rows = yield "matching_jobs", params
                found += [row["job_id"] for row in rows]
                if len(found) == self._limit:
                    return Found(found, found[-1])
        return Found(found, before if before > first else None)

    def _candidates(self, before: int) -> Generator[NamedQuery, Sequence[Row], _Candidates]:
        """Find candidates below an id: by a list if a filter has one, else by the terms of blocks."""
        if (name := _list_of(self._filters)) is not None:
            return (yield from self._listed(name, before))
        if before > self._bounds.open_from:
            return (yield from self._without_terms(before, self._bounds.open_from))
        if before > self._bounds.indexed_from:
            return (yield from self._with_terms(before))
        return (yield from self._without_terms(before, 0))

    def _without_terms(self, before: int, first: int) -> Generator[NamedQuery, Sequence[Row], _Candidates]:
        """Find candidates among jobs of few blocks, which have no terms."""
        first = max(first, self._bounds.first, before - 2 * BLOCK_JOBS)
        count = self._remaining if self._has_filters else self._limit
        range_ = {"first": first, "before": before, "count": count}
        rows = yield "jobs_without_terms", {**self._params, **range_}
        return _candidates(rows, count, first)

    @property
    def _has_filters(self) -> bool:
        return any(self._filters[name] is not None for name in ANY_JOB)

    def _with_terms(self, before: int) -> Generator[NamedQuery, Sequence[Row], _Candidates]:
        first = self._first_of_window(before)
        # The first block has jobs that are not below `before`.
        count = (self._remaining if self._has_filters else self._limit) + BLOCK_JOBS
        range_ = {"first": first, "before": before, "count": count}
        blocks = yield "blocks_with_terms", {"terms": self._terms or [ALL_JOBS], **range_}
        read = [job_id for row in blocks for job_id in _jobs_in(row["block"], row["jobs"])]
        floor = read[-1] if len(read) >= count else first
        return _Candidates([job_id for job_id in read if first <= job_id < before], floor)

    def _first_of_window(self, before: int) -> int:
        block = (before - 1) // BLOCK_JOBS - MAX_BLOCKS + 1
        return max(self._bounds.first, self._bounds.indexed_from, block * BLOCK_JOBS)

    def _listed(self, name: str, before: int) -> Generator[NamedQuery, Sequence[Row], _Candidates]:
        """Find the jobs of a system or in a state; if they are many, those with all terms."""
        range_ = {"first": self._bounds.first, "before": before, "count": MAX_LISTED}
        rows = yield name, {**self._params, **range_}
        listed = _candidates(rows, MAX_LISTED, self._bounds.first)
        if len(rows) <= _FEW_LISTED or not self._terms:
            return listed
        open_from = self._bounds.open_from
        newest = [job_id for job_id in listed.job_ids if job_id >= open_from]
        if listed.floor >= open_from or newest:
            return _Candidates(newest, max(listed.floor, min(open_from, before)))
        if before <= self._bounds.indexed_from:
            return listed
        first = max(listed.floor, self._first_of_window(before))
        job_ids = [job_id for job_id in listed.job_ids if job_id >= first]
        params = {"terms": self._terms, "job_ids": job_ids, "first": first, "before": before}
        rows = yield "jobs_with_terms", params
        return _Candidates([row["job_id"] for row in rows], first)


def _candidates(rows: Sequence[Row], count: int, first: int) -> _Candidates:
    job_ids = [row["job_id"] for row in rows]
    return _Candidates(job_ids, job_ids[-1] if len(job_ids) == count else first)


def _list_of(filters: Filters) -> str | None:
    """Return the query of a filter whose jobs are listed in their order, None without such a filter."""
    if filters["system"] is not None:
        return "jobs_of_system"
    if filters["state"] is not None and filters["state"] not in FINISHED:
        return "jobs_in_state"
    return None


def _terms(filters: Filters) -> set[str]:
    """Return terms that all matching jobs have."""
    given = {name: filters[name] for name in _OF_TERMS}
    if filters["result"] != _NO_RESULT:
        given["result"] = filters["result"]
    if filters["state"] in FINISHED:
        given["state"] = filters["state"]
    of_text = sorted(text_terms(filters[WHITEBOARD] or ""))
    step = -(-len(of_text) // MAX_TEXT_TERMS) or 1
    terms = {property_term(name, value) for name, value in given.items() if value is not None}
    return terms.union(of_text[::step])


def _batches(job_ids: list[int], first: int) -> Iterator[list[int]]:
    """Yield candidates in batches: the first is a page, because nearly all of them match as a rule."""
    yield from (batch for batch in (job_ids[:first],) if batch)
    yield from (job_ids[n : n + _BATCH] for n in range(first, len(job_ids), _BATCH))


def _jobs_in(block: int, jobs: str) -> list[int]:
    """Return the ids of a block's jobs, newest first; `jobs` has a digit for each."""
    end = (block + 1) * BLOCK_JOBS - 1
    return [end - number for number, digit in enumerate(reversed(jobs)) if digit == "1"]
