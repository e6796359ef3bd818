"""Parsing of times and durations."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.arguments.moments import moment, span
from cli.terminal.wording import clock

NOW = datetime(2026, 11, 21, 10, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def berlin(utc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a time zone that is one hour ahead of UTC in winter, two in summer."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("now", "2026-11-21 10:30:00"),
        ("2h ago", "2026-11-21 08:30:00"),
        ("1d 2h ago", "2026-11-20 08:30:00"),
        (" 90  minutes ago ", "2026-11-21 09:00:00"),
        ("in 3d", "2026-11-24 10:30:00"),
        ("yesterday", "2026-11-19 23:00:00"),  # The local day.
        ("Yesterday 14:00", "2026-11-20 13:00:00"),
        ("today", "2026-11-20 23:00:00"),
        ("tomorrow 1:00", "2026-11-22 00:00:00"),
        ("14:00", "2026-11-21 13:00:00"),
        ("9:05:07", "2026-11-21 08:05:07"),
        ("2026-11-20", "2026-11-19 23:00:00"),
        ("2026-11-20 14:00", "2026-11-20 13:00:00"),
        ("2026-07-20 14:00", "2026-07-20 12:00:00"),  # The offset on that day.
        ("2026-11-20 14:00 UTC", "2026-11-20 14:00:00"),
        ("2026-11-20 14:00 +0200", "2026-11-20 12:00:00"),
        ("2026-11-20T14:00:00Z", "2026-11-20 14:00:00"),  # The form of the API.
        ("2026-11-20T14:00:00+02:00", "2026-11-20 12:00:00"),
    ],
)
def test_moment__as_people_write_it__is_that(text: str, meant: str) -> None:
    found = moment(text, NOW)
    assert found is not None and found.strftime("%Y-%m-%d %H:%M:%S") == meant


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "ago", "2h", "2x ago", "25:00", "14:60", "yesterday noon", "yesterday  yesterday"),
        *("2026-13-01", "99999999w ago", "0001-01-01 00:00", "9999-12-31 23:59 -10:00", "in", "2 ago"),
    ],
)
def test_moment__anything_else__is_none(text: str) -> None:
    assert moment(text, NOW) is None


@given(st.integers(31_536_000, 7_258_118_400))
def test_moment__as_the_tables_print_it__is_the_same_second(seconds: int) -> None:
    shown = clock(datetime.fromtimestamp(seconds, UTC).isoformat())
    found = moment(shown, NOW)
    # One hour occurs twice at the end of summer time, and is printed equally.
    assert found is not None and clock(found.isoformat()) == shown


@given(st.text())
def test_moment__of_any_text__raises_nothing(text: str) -> None:
    assert moment(text, NOW) is None or span(text) is None


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30d", 2_592_000), ("1d12h", 129_600), ("3 weeks", 1_814_400)]
)
def test_span__as_people_write_it__is_that_long(text: str, seconds: int) -> None:
    assert span(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "90", "2hh", "h", "-2h", "2.5h", "999999999w 999999999w"])
def test_span__anything_else__is_none(text: str) -> None:
    assert span(text) is None
