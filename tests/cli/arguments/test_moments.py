"""Parsing of times and durations."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.arguments.moments import Preference, UnclearTime, moment, span
from cli.arguments.params import TimeParam
from cli.terminal.wording import clock

PREFERENCES: tuple[Preference, ...] = ("past", "future")
# A Saturday.
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
        ("Yesterday at 14:00", "2026-11-20 13:00:00"),
        ("Yesterday 14:00", "2026-11-20 13:00:00"),
        ("today", "2026-11-20 23:00:00"),
        ("tomorrow 1:00", "2026-11-22 00:00:00"),
        ("the day before yesterday", "2026-11-18 23:00:00"),
        ("2026-11-20", "2026-11-19 23:00:00"),
        ("2026-11-20 14:00", "2026-11-20 13:00:00"),
        ("2026-07-20 14:00", "2026-07-20 12:00:00"),  # The offset on that day.
        ("2026-11-20 14:00 UTC", "2026-11-20 14:00:00"),
        ("2026-11-20 14:00 +0200", "2026-11-20 12:00:00"),
        ("2026-11-20T14:00:00Z", "2026-11-20 14:00:00"),  # The form of the API.
        ("2026-11-20T14:00:00+02:00", "2026-11-20 12:00:00"),
        ("2026-11-20 2pm", "2026-11-20 13:00:00"),
        ("last tuesday", "2026-11-16 23:00:00"),
        ("next tuesday at 9:00", "2026-11-24 08:00:00"),
        ("yesterday noon", "2026-11-20 11:00:00"),
        ("3 days ago at 14:00", "2026-11-18 13:00:00"),
        ("2 months ago", "2026-09-21 09:30:00"),  # The same time of the clock, in summer time.
        ("20 November 2026, 14:00", "2026-11-20 13:00:00"),
        ("Friday 20 november 2026", "2026-11-19 23:00:00"),
        ("yesterday 14:00 Asia/Tokyo", "2026-11-20 05:00:00"),
        ("last tuesday America/New_York", "2026-11-17 05:00:00"),
        ("today Pacific/Kiritimati", "2026-11-21 10:00:00"),  # Its day is another one.
        ("2026-10-25 02:30", "2026-10-25 00:30:00"),  # The first of two.
        ("2026-10-25 02:30 +0100", "2026-10-25 01:30:00"),  # The second.
    ],
)
def test_moment__as_people_write_it__is_that(text: str, meant: str) -> None:
    for prefer in PREFERENCES:
        assert _shown(moment(text, NOW, prefer)) == meant


@pytest.mark.parametrize(
    ("text", "last", "next"),
    [
        ("14:00", "2026-11-20 13:00:00", "2026-11-21 13:00:00"),
        ("9:00:07", "2026-11-21 08:00:07", "2026-11-22 08:00:07"),
        ("6pm", "2026-11-20 17:00:00", "2026-11-21 17:00:00"),
        ("wed 14:00", "2026-11-18 13:00:00", "2026-11-25 13:00:00"),
        ("20 nov", "2026-11-19 23:00:00", "2027-11-19 23:00:00"),
        ("21 nov 18:00", "2025-11-21 17:00:00", "2026-11-21 17:00:00"),
        ("Feb 29", "2024-02-28 23:00:00", "2028-02-28 23:00:00"),
    ],
)
def test_moment__many_times_match__is_the_last_or_the_next(text: str, last: str, next: str) -> None:
    assert [_shown(moment(text, NOW, prefer)) for prefer in PREFERENCES] == [last, next]


def test_moment__an_hour_ago_across_a_change_of_the_clock__is_3600_seconds() -> None:
    now = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert moment("an hour ago", now) == moment("1h ago", now) == now - timedelta(hours=1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("01/02/2026", "a number in it"),
        ("1.2.2026", "a number in it"),
        ("5", "a number alone"),
        ("20261120", "a number alone"),  # Also a position.
        ("yesterday 14", "a number in it"),
        ("yesterday 25:00", "a number in it"),
        ("14:60", "a number in it"),
        ("13pm", "a number in it"),
        ("fri 13", "a number in it"),
        ("may", "day of the month"),
        ("Nov 2026", "day of the month"),
        ("an hour", "`ago`"),
        ("yesterday  yesterday", "several times"),
        ("tuesday friday", "several times"),
        ("tuesday 20 november 2026", "another day of the week"),
        ("saturday 9:00", "last saturday or next saturday"),
        ("this morning", "morning has no time of the clock"),
        ("yesterday 14:00 EST", "Europe/Berlin"),
        ("14:00 utc yesterday", "at the end"),
        ("yesterday 14:00 Europe/Nowhere", "no time zone"),
        ("2026-03-29 02:30", "skip"),
        ("29 march 2026 02:30 Europe/Berlin", "skip"),
    ],
)
def test_moment__unclear__is_refused_with_the_reason(text: str, reason: str) -> None:
    for prefer in PREFERENCES:
        with pytest.raises(UnclearTime, match=reason):
            moment(text, NOW, prefer)


def _shown(found: datetime | None) -> str | None:
    return found and found.strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "soon",
            "ago",
            "2h",
            "lst saturday",
            "x ago",
            "hier",
            "gestern 14:00",
            "31 november",
            "2026-02-30",
        ),
        *("99999999w ago", "0001-01-01 00:00", "9999-12-31 23:59 -10:00", "in", "14:00 15:00", "a" * 99),
    ],
)
def test_moment__anything_else__is_none(text: str) -> None:
    assert moment(text, NOW) is None


@settings(deadline=None)
@given(st.integers(31_536_000, 7_258_118_400))
def test_moment__as_the_tables_print_it__is_the_same_second(seconds: int) -> None:
    shown = clock(datetime.fromtimestamp(seconds, UTC).isoformat())
    found = moment(shown, NOW)
    # One hour occurs twice at the end of summer time, and is printed equally.
    assert found is not None and clock(found.isoformat()) == shown


@settings(deadline=None)
@given(st.text() | st.text("0123456789 :-+./adehimnopstuwy"))
def test_moment__of_any_text__raises_no_other_error(text: str) -> None:
    try:
        found = moment(text, NOW)
    except UnclearTime:
        return
    assert found is None or span(text) is None


def test_time_option__not_exact__prints_the_time_that_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    def taken(text: str, *, past: bool = False) -> str:
        option = click.Option(["--until"], type=TimeParam(past=past, clock=lambda: NOW))
        return str(option.type.convert(text, option, None))

    assert taken("tomorrow 18:00") == "2026-11-22T17:00:00+00:00"
    assert taken("2d") == "2026-11-23T10:30:00+00:00"
    assert taken("tuesday 9:00 UTC", past=True) == "2026-11-17T09:00:00+00:00"
    shown = capsys.readouterr()
    times = ("2026-11-22T18:00:00+01:00", "2026-11-23T11:30:00+01:00", "2026-11-17T10:00:00+01:00")
    assert shown.err.splitlines() == [f"--until: {time}" for time in times]
    assert taken("2026-11-22T18:00:00+01:00") == "2026-11-22T17:00:00+00:00"
    with pytest.raises(click.BadParameter, match=r"in the past: 2026-11-20T14:00:00\+01:00"):
        taken("yesterday 14:00")
    with pytest.raises(click.BadParameter, match="in the past"):
        taken("now")
    assert TimeParam(or_now=True, clock=lambda: NOW).convert(NOW.isoformat(), None, None) == NOW.isoformat()
    with pytest.raises(click.BadParameter, match=r"unclear: .*'tomorrow 18:00'"):
        taken("01/02/2026")
    assert shown.out == "" and capsys.readouterr() == ("", "")
    with pytest.raises(click.BadParameter, match="write '2h ago'"):
        taken("2h", past=True)
    later = (NOW + timedelta(minutes=2)).isoformat()
    with pytest.raises(click.BadParameter, match="is in the future; give a past time"):
        TimeParam(past=True, future="is refused", clock=lambda: NOW).convert(later, None, None)
    assert TimeParam(past=True, clock=lambda: NOW).convert(later, None, None) == later
    cut = TimeParam(past=True, future="is cut", clock=lambda: NOW)
    assert cut.convert(later, None, None) == NOW.isoformat()
    shown = "time: 2026-11-21T11:30:00+01:00, now: the time given is in the future\n"
    assert capsys.readouterr().err == shown


def test_time_option__relative_to_a_fraction_of_a_second__is_in_whole_seconds_unless_exact_or_now(
    capsys: pytest.CaptureFixture[str],
) -> None:
    late = NOW.replace(microsecond=987_654)

    def taken(text: str, *, past: bool = True) -> str:
        option = click.Option(["--since"], type=TimeParam(past=past, clock=lambda: late))
        return str(option.type.convert(text, option, None))

    assert taken("2h ago") == "2026-11-21T08:30:00+00:00"
    assert taken("2d", past=False) == "2026-11-23T10:30:00+00:00"
    assert capsys.readouterr().err.splitlines()[0] == "--since: 2026-11-21T09:30:00+01:00"
    exact = "2026-11-21T08:30:00.5+00:00"
    assert datetime.fromisoformat(taken(exact)) == datetime.fromisoformat(exact)
    # Otherwise what happened within the present second would be left out.
    assert taken("now") == late.isoformat()


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30d", 2_592_000), ("1d12h", 129_600), ("3 weeks", 1_814_400)]
)
def test_span__as_people_write_it__is_that_long(text: str, seconds: int) -> None:
    assert span(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "90", "2hh", "h", "-2h", "2.5h", "999999999w 999999999w"])
def test_span__anything_else__is_none(text: str) -> None:
    assert span(text) is None
