"""Sums of the hours that are over, which equal the sums of the intervals to the microsecond."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest

from domain.events import Recorded
from projections.sql import QUERIES
from store.migrate import migrations
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, owner_session
from tests.projections.happened import Happened, lab, registered
from tests.projections.projected_log import ProjectedLog
from tests.projections.random_history import GROUPS, Plain, project_in_pages
from tests.projections.spread_times import HOUR, set_times, spread_times
from tests.projections.used_systems import HOURS, write_uses

Key = tuple[str | None, str, str, datetime | None]


@pytest.fixture
def owner(database: TestDatabase) -> Any:
    with owner_session(database.owner_url) as session:
        yield session


def sums(
    models: ProjectedLog, group_by: str, since: datetime, until: datetime, **asked: Any
) -> dict[Key, int]:
    rows = models.rows("system_usage", group_by=group_by, since=since, until=until, **asked)
    found = {(row["key"], row["condition"], row["usage"], row["step"]): row["microseconds"] for row in rows}
    assert len(found) == len(rows), "one row for each group, condition, usage and step"
    return found


def expected(
    log: Sequence[Recorded], group_by: str, since: datetime, until: datetime, step: timedelta | None
) -> dict[Key, int]:
    """Compute the sums from event to event and from step to step, with a plain fold."""
    found: dict[Key, int] = {}
    plain = Plain()
    for recorded, following in zip(log, (*log[1:], None), strict=True):
        plain.apply(recorded)
        begin = max(recorded.recorded_at, since)
        end = until if following is None else min(following.recorded_at, until)
        while begin < end:
            start = None if step is None else begin - (begin - MIDNIGHT) % step
            cut = end if start is None or step is None else min(end, start + step)
            for key, condition, usage in plain.groups(group_by):
                group = key, condition, usage, start
                found[group] = found.get(group, 0) + (cut - begin) // timedelta(microseconds=1)
            begin = cut
    return found


MIDNIGHT = datetime.fromisoformat("2020-01-01T00:00:00Z")
STEPS = {None: None, "hour": HOUR, "day": 24 * HOUR}


@pytest.mark.parametrize("seed", range(3))
def test_usage_hours__random_history__sums_equal_a_plain_fold_to_the_microsecond(
    models: ProjectedLog, owner: Owner, seed: int
) -> None:
    dice = Random(seed)
    write_uses(models, dice)
    spread_times(owner, dice, HOURS)
    log = list(models.unread())
    project_in_pages(models, log, dice)
    assert_sums(models, log, dice)


def assert_sums(models: ProjectedLog, log: Sequence[Recorded], dice: Random) -> None:
    """Compare sums as of random positions between random moments, some at the beginning of an hour."""
    commits = [recorded for recorded in log if recorded.position == recorded.commit_end]
    moments = [recorded.recorded_at for recorded in commits] + [log[-1].recorded_at + 2 * HOUR] * 20
    moments += [moment.replace(minute=0, second=0, microsecond=0) for moment in moments]
    for _ in range(40):
        last = dice.choice((dice.choice(commits), commits[-1]))
        following = next((one.recorded_at for one in commits if one.position > last.position), moments[-1])
        since, until = sorted(dice.choices(moments, k=2))
        # As of a position, nothing counts after its moment, which lasts until the next commit.
        until = min(until, following)
        events = [recorded for recorded in log if recorded.position <= last.position]
        group_by, step = dice.choice(GROUPS), dice.choice(list(STEPS))
        asked = {"since": since, "until": until, "group_by": group_by, "step": step}
        right = expected(events, group_by, since, until, STEPS[step])
        assert sums(models, at=last.position, **asked) == right


# Mistakes in the sums of hours, and in their use.
MISTAKES = {
    "an end counts at the end of its hour": ("i.until - b.hour - interval '1 hour'", "interval '0'"),
    "a change counts from the begin of its hour": ("n.systems_after - n.systems", "n.systems_after"),
    "the owner of the system is that of the job": ("coalesce(d.owner, s.reserved_by, '')", "s.owner"),
    "a borrower does not count": ("s.reserved_by, s.loaned_to, ''", "s.reserved_by, ''"),
    "idle time outside of the idle pool is idle": ("coalesce(u.unavailable, u.usage)", "u.usage"),
    "the hour before a change is left out": ("n.next_hour - interval '1", "n.next_hour - interval '2"),
}
(CLOSE_HOURS,) = (one.text for one in migrations() if one.name == "2027-01-03-unavailable-systems")


@pytest.mark.parametrize("mistake", MISTAKES)
def test_usage_hours__a_mistake_in_the_statement__sums_differ(
    models: ProjectedLog, owner: Owner, mistake: str
) -> None:
    before, after = MISTAKES[mistake]
    _, begin, rest = CLOSE_HOURS.partition("CREATE OR REPLACE FUNCTION")
    function = begin + rest[: rest.index("$$;")] + "$$"
    assert function.count(before) == 1
    owner.execute("SET search_path = read")
    owner.execute(function.replace(before, after).encode())
    assert_sums_differ(models, owner)


def test_usage_hours__hours_that_are_not_over_are_used__sums_differ(
    models: ProjectedLog, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    query, bound = QUERIES["system_usage"], b"WHERE e.notification_id <= %(at)s"
    assert query.count(bound) == 1
    endless = query.replace(bound, b"WHERE %(at)s::bigint < 0")
    monkeypatch.setitem(QUERIES, "system_usage", endless)
    assert_sums_differ(models, owner)


def assert_sums_differ(models: ProjectedLog, owner: Owner) -> None:
    dice = Random(1)
    write_uses(models, dice)
    spread_times(owner, dice, HOURS)
    log = list(models.unread())
    project_in_pages(models, log, dice)
    with pytest.raises(AssertionError):
        assert_sums(models, log, dice)


def test_usage_hours__an_event_in_the_hour__no_row_until_a_later_hour_has_one(
    models: ProjectedLog, owner: Owner
) -> None:
    begin = datetime.fromisoformat("2026-11-01T10:00:00Z")
    at_minutes(models, owner, begin, (5, [lab(), registered("a")]), (59, [registered("b")]))
    assert hours(owner) == []
    (at,) = at_minutes(models, owner, begin, (60, [lab("lab-2")]))
    minute = 60_000_000
    assert hours(owner) == [(begin, at, (55 + 1) * minute)]
    # A quiet time ends many hours at once.
    at_minutes(models, owner, begin, (60 * 4 + 30, [lab("lab-3")]))
    assert [microseconds for *_, microseconds in hours(owner)] == [56 * minute, *[2 * 60 * minute] * 3]


def at_minutes(
    models: ProjectedLog, owner: Owner, begin: datetime, *commits: tuple[int, list[Happened]]
) -> list[int]:
    """Commit events at minutes after a moment, and return the first position of each commit."""
    written = [(begin + timedelta(minutes=minutes), models.write(*happened)) for minutes, happened in commits]
    for moment, positions in written:
        set_times(owner, [positions[-1]], [moment])
    models.project(models.unread())
    return [positions[0] for _, positions in written]


def hours(owner: Owner) -> list[tuple[datetime, int, int]]:
    """Return the hours with their first position after them, and the microseconds of all systems."""
    query = (
        b"SELECT hour, since_position, sum(microseconds)::bigint FROM read.usage_hours"
        b" WHERE group_by = 'lab_controller' GROUP BY hour, since_position ORDER BY hour"
    )
    return owner.execute(query).fetchall()
