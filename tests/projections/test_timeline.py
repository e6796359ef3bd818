"""The time line: exact and mixed intervals, which add up to the time span."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from operator import itemgetter
from random import Random
from typing import Any, NamedTuple

import orjson
import pytest

from domain.directory.events import PoolRegistered
from domain.system import events as system_events
from projections.sql import QUERIES
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, owner_session
from tests.projections.happened import host, lab, of, registered, submitted
from tests.projections.projected_log import ProjectedLog
from tests.projections.query_cost import ANY_TIMELINE as ALL
from tests.projections.query_cost import MAX_GROWTH, pages
from tests.projections.random_history import LABS, POOLS, SYSTEMS, project_in_pages, write_history

MICROSECOND = timedelta(microseconds=1)


class Interval(NamedTuple):
    since: datetime
    until: datetime
    condition: str | None
    usage: str
    recipe_id: int | None
    shares: dict[tuple[str | None, str], int]
    """Microseconds by condition and usage, of a mixed interval."""


def drawn(models: ProjectedLog, **params: Any) -> dict[str, list[dict[str, Any]]]:
    """Return system -> intervals."""
    rows = models.rows("timeline", **{**ALL, **params})
    assert all(len(orjson.loads(row["intervals"])) == row["number"] for row in rows)
    return {row["fqdn"]: orjson.loads(row["intervals"]) for row in rows}


def read(interval: dict[str, Any]) -> Interval:
    since, until = (datetime.fromisoformat(interval[name]) for name in ("since", "until"))
    assert microseconds(interval) == (until - since) // MICROSECOND
    shares = {(each["condition"], each["usage"]): microseconds(each) for each in interval["shares"]}
    return Interval(since, until, interval["condition"], interval["usage"], interval["recipe_id"], shares)


def microseconds(item: dict[str, Any]) -> int:
    return round(item["seconds"] * 1_000_000)


def exact(models: ProjectedLog, fqdn: str, since: datetime, until: datetime, at: int) -> list[Interval]:
    """Return the intervals of `usage_of_system` in a time span, with the time before the registration."""
    whole = intervals_of(models, fqdn, None, None, at)
    rows = intervals_of(models, fqdn, since, until, at)
    assert [
        row for row in whole if row["since"] < until and not (row["until"] and row["until"] <= since)
    ] == rows
    begun = min(whole[0]["since"], until)
    found = [Interval(since, begun, None, "unregistered", None, {})] if since < begun else []
    # Unlike those of a time line, intervals also end with a reservation or a loan.
    for kind, group in groupby(rows, itemgetter("condition", "usage", "recipe_id", "unavailable")):
        first, *_, last = (*group,) * 2
        ends = max(since, first["since"]), min(until, last["until"] or until)
        if ends[0] < ends[1]:
            condition, usage, recipe_id, unavailable = kind
            found.append(Interval(*ends, condition, unavailable or usage, recipe_id, {}))
    return found


def intervals_of(
    models: ProjectedLog, fqdn: str, since: datetime | None, until: datetime | None, at: int, limit: int = 7
) -> list[dict[str, Any]]:
    """Return the intervals of a system in a time span, read in pages."""
    rows: list[dict[str, Any]] = []
    asked = {"fqdn": fqdn, "since": since, "until": until, "at": at, "limit": limit}
    while page := models.rows("usage_of_system", **asked, after=rows[-1]["since_position"] if rows else 0):
        rows += page
    assert all(end["until_position"] == begin["since_position"] for end, begin in pairwise(rows))
    return rows


def mixed(intervals: Sequence[Interval], resolution: timedelta) -> Iterator[Interval]:
    """Yield the intervals with short neighbours joined, by a plain loop."""
    for is_short, group in groupby(intervals, lambda one: one.until - one.since < resolution):
        neighbours = list(group)
        if not is_short:
            yield from neighbours
            continue
        shares = Counter[tuple[str | None, str]]()
        for one in neighbours:
            shares[one.condition, one.usage] += (one.until - one.since) // MICROSECOND
        yield Interval(neighbours[0].since, neighbours[-1].until, None, "mixed", None, dict(shares))


@pytest.mark.parametrize("seed", range(3))
def test_timeline__random_history__adds_up_and_equals_a_plain_loop_between_any_two_moments(
    models: ProjectedLog, seed: int
) -> None:
    dice = Random(seed)
    write_history(models, dice)
    log = list(models.unread())
    project_in_pages(models, log, dice)
    commits = [recorded for recorded in log if recorded.position == recorded.commit_end]
    moments = [recorded.recorded_at for recorded in commits]
    moments += [moments[0] - timedelta(days=40), datetime.now(UTC), *(m + MICROSECOND for m in moments[:9])]
    seen = Counter[str]()
    for _ in range(60):
        last = dice.choice(commits)
        # As of a position, the time span ends at its moment.
        since, until = sorted(min(moment, last.recorded_at) for moment in dice.sample(moments, 2))
        if since == until:
            continue
        resolution = dice.choice([timedelta(), MICROSECOND, (until - since) / 50, (until - since) / 3])
        asked = {"since": since, "until": until, "resolution": resolution / timedelta(seconds=1)}
        systems = drawn(models, at=last.position, **asked)
        assert list(systems) == [
            row["fqdn"] for row in models.rows("systems", **{**ALL, "at": last.position})
        ]
        for fqdn, shown in systems.items():
            assert sum(map(microseconds, shown)) == (until - since) // MICROSECOND
            found = list(map(read, shown))
            assert found == list(mixed(exact(models, fqdn, since, until, last.position), resolution))
            for interval in found:
                assert not interval.shares or sum(interval.shares.values()) == (
                    (interval.until - interval.since) // MICROSECOND
                )
            seen.update(interval.usage for interval in found)
    assert {"mixed", "unregistered", "idle", "disabled", "running"} <= seen.keys()


def span_of(models: ProjectedLog) -> dict[str, datetime]:
    """Return a time span from before the log until now."""
    now = datetime.now(UTC)
    return {"since": now - timedelta(hours=1), "until": now}


@pytest.fixture
def used(models: ProjectedLog) -> ProjectedLog:
    """Add `a` with recipe 1 of eve, and `b`, which bob reserves and returns."""
    models.commit(lab(), registered("a"), registered("b", "Manual"))
    models.commit(*submitted(host(1)), *of("system", "a", system_events.SystemScheduled(1)))
    models.commit(*of("system", "a", system_events.SystemWaiting(1)))
    begun = system_events.SystemReservationBegun("bob", None, None)
    models.commit(*of("system", "b", begun, system_events.SystemRunning(None)))
    models.commit(*of("system", "b", system_events.SystemConditionChanged("Automated", "")))
    ended = system_events.SystemReservationEnded("returned")
    models.commit(*of("system", "b", ended, system_events.SystemPending()))
    return models


def test_timeline__recipe_and_reservation__have_the_person(used: ProjectedLog) -> None:
    shown = drawn(used, **span_of(used))
    persons = {
        fqdn: [(one["usage"], one["recipe_id"], one["job_id"], one["user"]) for one in intervals]
        for fqdn, intervals in shown.items()
    }
    ((_, _, job_id, owner),) = {person for person in persons["a"] if person[0] == "waiting"}
    assert (job_id, owner) == (1, used.recipe(1)["owner"])
    unused = [("unregistered", None, None, None), ("idle", None, None, None)]
    assert persons == {
        "a": [*unused, ("scheduled", 1, job_id, owner), ("waiting", 1, job_id, owner)],
        "b": [*unused, *[("running", None, None, "bob")] * 2, ("pending", None, None, None)],
    }


def test_timeline__mixed__has_no_recipe_and_no_person(used: ProjectedLog) -> None:
    (mixed_one,) = drawn(used, **span_of(used), resolution=1e6)["b"]
    named = ("condition", "usage", "recipe_id", "job_id", "user")
    assert [mixed_one[name] for name in named] == [None, "mixed", None, None, None]
    shares = [(share["condition"], share["usage"]) for share in mixed_one["shares"]]
    assert shares == [
        *(("Automated", "pending"), ("Automated", "running")),
        *(("Manual", "idle"), ("Manual", "running"), (None, "unregistered")),
    ]


def test_timeline__filters__hold_as_of_the_position(models: ProjectedLog) -> None:
    models.commit(*(lab(name) for name in LABS), *((f"pool/{name}", PoolRegistered(None)) for name in POOLS))
    (*_, at) = models.commit(*(registered(fqdn, lab_controller="lab-1") for fqdn in "abc"))
    models.commit(
        *of("system", "a", system_events.SystemLabControllerChanged("lab-2")),
        *of("system", "b", system_events.SystemOwnerChanged("bob")),
        *of("system", "c", system_events.SystemConditionChanged("Broken", "")),
    )
    span = span_of(models)
    for filters, now in (
        ({"lab_controller": "lab-1"}, "bc"),
        ({"owner": "bob"}, "b"),
        ({"condition": "Automated"}, "ab"),
        ({"fqdns": ["c", "z"]}, "c"),
        ({"labs": ["lab-2"]}, "a"),
        ({"other_labs": ["lab-2"]}, "bc"),
        ({"hidden": ["a"]}, "bc"),
        ({"after": "a", "limit": 1}, "b"),
    ):
        assert (filters, "".join(drawn(models, **span, **filters))) == (filters, now)
    assert "".join(drawn(models, **span, condition="Automated", at=at)) == "abc"
    assert "".join(drawn(models, **span, owner="bob", at=at)) == ""


def test_timeline__many_intervals__are_cut_by_page_and_by_system(used: ProjectedLog) -> None:
    span = span_of(used)
    assert [row["number"] for row in used.rows("timeline", **{**ALL, **span})] == [4, 5]
    for number, shown in (
        (4, [("a", True)]),
        (5, [("a", False), ("b", True)]),
        (10, [("a", False), ("b", False)]),
    ):
        rows = used.rows("timeline", **{**ALL, **span, "max_page_intervals": number})
        assert [(row["fqdn"], row["has_more"]) for row in rows] == shown
    # One more for the time before the registration.
    assert [row["number"] for row in used.rows("timeline", **{**ALL, **span, "max_intervals": 2})] == [3, 3]


@pytest.mark.parametrize("query", ["timeline", "usage_of_system"])
def test_cost__history_six_times_as_long__a_short_span_costs_no_more(
    models: ProjectedLog, database: TestDatabase, query: str
) -> None:
    """Check that the intervals are found by position, at the end and in the middle of the history."""
    models.commit(lab(), *(registered(fqdn) for fqdn in SYSTEMS))
    with owner_session(database.owner_url) as planner:
        planner.execute(b"SET jit = off")
        middle = lengthen(models, 30)
        before = cost(planner, models, query, middle)
        lengthen(models, 150)
        after = cost(planner, models, query, middle)
    assert {name: pages <= MAX_GROWTH * before[name] + 5 for name, pages in after.items()} == dict.fromkeys(
        before, True
    ), (before, after)


def lengthen(models: ProjectedLog, commits: int) -> datetime:
    """Add commits to the history of each system; return the time of the last one."""
    changes = (system_events.SystemPending(), system_events.SystemIdle())
    for _ in range(commits):
        models.commit(*(each for fqdn in SYSTEMS for each in of("system", fqdn, *changes * 4)))
    return datetime.now(UTC)


def cost(planner: Owner, models: ProjectedLog, query: str, middle: datetime) -> dict[str, int]:
    """Return the pages that are read for a short span in the middle and at the end, as of the end."""
    position = models.log.end()
    spans = {"middle": middle, "end": datetime.now(UTC)}
    return pages(
        planner,
        {
            name: (
                QUERIES[query],
                {
                    **ALL,
                    "fqdn": "a",
                    "fqdns": ["a"],
                    "at": position,
                    "since": until - timedelta(milliseconds=20),
                    "until": until,
                    # The number of intervals in the span depends on the time that commits take.
                    **({"after": 0, "limit": 1} if query == "usage_of_system" else {}),
                },
            )
            for name, until in spans.items()
        },
    )
