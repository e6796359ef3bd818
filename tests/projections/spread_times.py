"""Times of the log over many hours, because a test writes its log within a second."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from tests.harness.sessions import Owner

HOUR = timedelta(hours=1)
ENDS = b"SELECT last_position FROM log.commits WHERE last_position > %s ORDER BY last_position"
CHANGE = """
UPDATE log.{table} l SET recorded_at = n.moment
FROM unnest(%s::bigint[], %s::timestamptz[]) AS n (position, moment) WHERE l.{end} = n.position
"""


def spread_times(owner: Owner, dice: Random, hours: int, after: int = 0, end: datetime | None = None) -> None:
    """Move the commits after a position to random times of the hours before `end`, the last whole hour.

    Some are in one moment, some at the beginning of an hour, and some hours have none.
    """
    positions = [position for (position,) in owner.execute(ENDS, (after,)).fetchall()]
    last = end or datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    moments = sorted(last - hours * HOUR + _within(dice, hours) for _ in positions)
    set_times(owner, positions, moments)


def set_times(owner: Owner, ends: Sequence[int], moments: Sequence[datetime]) -> None:
    """Set the times of the commits that end at some positions. Triggers refuse this, also to the owner."""
    owner.execute("SET session_replication_role = replica")
    for table, column in (("commits", "last_position"), ("events", "commit_end")):
        owner.execute(CHANGE.format(table=table, end=column).encode(), (ends, moments))
    owner.execute("SET session_replication_role = DEFAULT")


def _within(dice: Random, hours: int) -> timedelta:
    whole = dice.randrange(hours) * HOUR
    return whole + dice.choice((timedelta(), timedelta(microseconds=dice.randrange(3_600_000_000))))
