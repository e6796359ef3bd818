"""The port of Grafana's rules, which the other tests here rely on."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.boards.grafana_rules import Request, UnknownMacro, link, promql, sql

ASKED = Request(
    datetime(2026, 11, 29, 1, tzinfo=UTC),
    datetime(2026, 11, 29, 3, tzinfo=UTC),
    "5m",
    {"lab": ("east", "o'hara"), "one": "o'hara", "none": ()},
)
FROM, TO = "'2026-11-29T01:00:00.000Z'", "'2026-11-29T03:00:00.000Z'"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("$__timeFilter(at)", f"at BETWEEN {FROM} AND {TO}"),
        ("f($__timeFrom(), $__timeTo())", f"f({FROM}, {TO})"),
        ("$__timeGroup(at, '5m')", "floor(extract(epoch from at)/300)*300"),
        # The interval of the panel is replaced first.
        ("$__timeGroupAlias(at, $__interval)", 'floor(extract(epoch from at)/300)*300 AS "time"'),
        ("$__time(at)", 'at AS "time"'),
        ("'$__interval' $__interval_ms", "'5m' 300000"),
        # Several values are quoted and separated by commas, a single one only has its quotes doubled.
        ("ARRAY[$lab]", "ARRAY['east','o''hara']"),
        ("'${one}' [$none]", "'o''hara' []"),
    ],
)
def test_sql__macro_or_variable__expanded_as_by_grafana(query: str, expected: str) -> None:
    assert sql(query, ASKED) == expected


@pytest.mark.parametrize(
    "query",
    [
        "SELECT $__timeEpoch(at)",
        "SELECT $unknown",
        "SELECT $__timeGroup(at, 'soon')",
        # In Grafana an argument ends at the first closing parenthesis, and the rest stays.
        "SELECT $__timeGroup(coalesce(a, b), '5m')",
    ],
)
def test_sql__unknown_macro_or_variable__refused(query: str) -> None:
    with pytest.raises(UnknownMacro):
        sql(query, ASKED)


def test_promql__intervals_and_variables__expanded() -> None:
    assert promql('rate(x{lab=~"$lab"}[$__rate_interval])', ASKED) == 'rate(x{lab=~"(east|o\'hara)"}[300s])'
    with pytest.raises(UnknownMacro):
        promql("rate(x[$__unknown])", ASKED)


def test_link__span_and_cell__expanded() -> None:
    url = "/ui/recipes/${__value.raw}?since=${__from:date:iso}&until=${__to:date:iso}"
    span = "since=2026-11-29T01:00:00.000Z&until=2026-11-29T03:00:00.000Z"
    assert link(url, ASKED, "17") == f"/ui/recipes/17?{span}"
