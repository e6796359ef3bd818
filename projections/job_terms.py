"""An inverted index of jobs: for each term and block of jobs a bitmap of the jobs that have or had the term.

A block has the jobs of 2,048 successive ids. It is closed, and its rows are written at once, when the first
job of the block after the next one is submitted; terms that its jobs get later are added to its rows. Terms
are never removed, so they find all jobs that match as of any position, and a few that match at other times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from psycopg import Cursor

from postgres.binary_copy import BITS, CopyData, CopyEncoder, arrays
from projections.intervals import Instant
from projections.sql import SQL

BLOCK_JOBS: Final = BITS
ALL_JOBS: Final = ""
"""The term of all jobs of a block."""
LATE_JOBS: Final = "+"
"""The term of jobs that were submitted after their block was closed."""
WHITEBOARD: Final = "whiteboard"
# The number of characters of a part of a whiteboard. A text that contains another one has all its parts.
_PART: Final = 3
# Longer terms are cut, because an index has no long keys. Then they find more jobs than those that match.
_MAX_CHARACTERS: Final = 100

_COLUMNS: Final = {
    "term": "text",
    "block": "integer",
    "jobs": "bit",
    "since_position": "bigint",
    "last_position": "bigint",
}


def text_terms(text: str) -> frozenset[str]:
    """Return the terms of a whiteboard or a part of it: each three successive characters, in lower case."""
    # One letter for one, as in PostgreSQL. The lower case of a whole text depends on the places of letters
    # (for a sigma), and that of İ has two characters.
    lower = text.lower() if text.isascii() else "".join(letter.lower()[0] for letter in text)
    return frozenset([lower[n : n + _PART] for n in range(len(lower) - _PART + 1)])


def property_term(name: str, value: object) -> str:
    """Return the term of a property, which is longer than those of texts."""
    return f"{name} {value}"[:_MAX_CHARACTERS]


def job_terms(properties: Mapping[str, Any]) -> frozenset[str]:
    """Return the terms of properties by name; those without a value have none."""
    given = {name: value for name, value in properties.items() if value is not None}
    text = given.pop(WHITEBOARD, "")
    return text_terms(text).union(property_term(name, value) for name, value in given.items())


class _LateTerm(NamedTuple):
    """The jobs that got a term after their block was closed, and the first and the last position of that."""

    jobs: int
    since_position: int
    last_position: int


class JobTerms:
    """The terms of the open blocks, and those that are not stored. Add them in the order of the log."""

    def __init__(self, *, tables_are_empty: bool = False) -> None:
        self._encoder = CopyEncoder("job_terms", _COLUMNS)
        self._is_loaded = tables_are_empty
        # Block -> term -> its jobs, as a number with a bit for each.
        self._open: dict[int, dict[str, int]] = {}
        self._last = 0
        self._rows: list[tuple[str, int, int, int, int]] = []
        self._late: dict[tuple[str, int], _LateTerm] = {}

    def load(self, cursor: Cursor[Any]) -> None:
        """Fetch the terms of the open blocks, once."""
        if self._is_loaded:
            return
        self._is_loaded = True
        rows = cursor.execute(SQL["terms_of_open_blocks"], {"size": BLOCK_JOBS}).fetchall()
        self._last = max((job_id // BLOCK_JOBS for job_id, _, _ in rows), default=0)
        for job_id, name, value in rows:
            self._add(job_id, (ALL_JOBS, *job_terms({name: value})), None)

    def add_job(self, job_id: int, terms: Iterable[str], now: Instant) -> None:
        """Add the terms of a submitted job, and close the blocks before the last two."""
        last = max(self._last, job_id // BLOCK_JOBS)
        for block in range(self._last - 1, last - 1):
            self._close(block, now)
        self._last = last
        late = () if self._is_open(job_id) else (LATE_JOBS,)
        self.add(job_id, (ALL_JOBS, *late, *terms), now)

    def _close(self, block: int, now: Instant) -> None:
        """Write the rows of a block. Each block has a row of all jobs, even one that is empty."""
        if block >= 0:
            terms = {ALL_JOBS: 0, **self._open.pop(block, {})}
            self._rows += [(term, block, jobs, now[0], now[0]) for term, jobs in sorted(terms.items())]

    def _is_open(self, job_id: int) -> bool:
        return job_id // BLOCK_JOBS >= self._last - 1

    def add(self, job_id: int, terms: Iterable[str], now: Instant) -> None:
        """Add terms of a job that has been submitted."""
        self._add(job_id, terms, now)

    def _add(self, job_id: int, terms: Iterable[str], now: Instant | None) -> None:
        block, place = divmod(job_id, BLOCK_JOBS)
        bit = 1 << (BLOCK_JOBS - 1 - place)
        if self._is_open(job_id):
            of_block = self._open.get(block)
            if of_block is None:
                of_block = self._open[block] = defaultdict(int)
            for term in terms:
                of_block[term] |= bit
        elif now is not None:
            for term in terms:
                before = self._late.get((term, block), _LateTerm(0, now[0], now[0]))
                self._late[term, block] = before._replace(jobs=before.jobs | bit, last_position=now[0])

    def take_closed_rows(self) -> Iterator[CopyData]:
        """Yield the rows of closed blocks that are not stored, without the terms that were added later."""
        rows, self._rows = self._rows, []
        return self._encoder.encode(rows)

    def take_remaining_rows(self) -> Iterator[CopyData]:
        """Yield all rows that are not stored. There may be two rows of one term and block."""
        self._rows += [(*key, *late) for key, late in self._late.items()]
        self._late = {}
        return self.take_closed_rows()

    def flush(self, cursor: Cursor[Any]) -> None:
        for copied in self.take_closed_rows():
            copied.write(cursor)
        if self._late:
            rows = [(*key, *late) for key, late in sorted(self._late.items())]
            cursor.execute(SQL["add_job_terms"], arrays(_COLUMNS.values(), rows))
            self._late = {}
