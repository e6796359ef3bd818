"""`labledger usage`: shares of time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from cli.systems.usage import SHARES, shares
from domain.system.lifecycle import CONDITIONS, USAGE
from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

SECONDS = {
    "Automated": {"idle": 1800.0, "running": 3600.0},
    "Manual": {"running": 1800.0},
    "Broken": {"idle": 0.0},
}


def test_usage__of_groups__is_shown_in_shares(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/system-usage", Answer({"position": 3, "groups": [{"key": "big", "seconds": SECONDS}]}))
    result = run("usage", "--by", "pool", "--since", "2026-01-01 12:00")
    assert result.stdout.splitlines()[-1].split() == ["big", "2h", "0m", "75.0%", "25.0%"]
    query = server.asked[0].query
    assert (query["group_by"], query["since"]) == (["pool"], ["2026-01-01T12:00:00+00:00"])


def test_usage__of_a_system__an_interval_a_line(server: LoopbackServer, run: Run) -> None:
    interval = {"condition": "Automated", "usage": "running", "recipe_id": 12, "since_position": 4}
    moments = {"since": "2026-01-01T00:00:00Z", "until": "2026-01-01T00:01:15Z"}
    server.on("GET", "/systems/a.b/usage", Answer({"position": 9, "intervals": [{**interval, **moments}]}))
    words = run("system", "usage", "a.b").stdout.splitlines()[-1].split()
    assert words[2:6] == ["1m", "15s", "Automated", "running"]


@pytest.mark.parametrize("option", ["--since", "--until"])
def test_usage__no_time__is_wrong_usage(server: LoopbackServer, run: Run, option: str) -> None:
    assert run("usage", option, "lately").exit_code == 2
    assert not server.asked


def test_usage__of_the_log__shows_the_share_of_each_user(server: LoopbackServer, run: Run) -> None:
    share = {"day": "2026-01-01", "actor": "eve", "event_count": 7, "size_bytes": 3 << 29}
    server.on("GET", "/log-usage", Answer({"position": 3, "shares": [share]}))
    result = run("usage", "--log", "--since", "2026-01-01 12:00")
    assert result.stdout.splitlines()[-1].split() == ["2026-01-01", "eve", "1.5", "GiB", "7"]
    assert server.asked[0].query["since"] == ["2026-01-01T12:00:00+00:00"]
    assert run("usage", "--log", "--until", "2026-01-01").exit_code == 2


by_usage = st.dictionaries(st.sampled_from(USAGE.states), st.floats(0.001, 1e9), min_size=1)


@given(st.dictionaries(st.sampled_from(CONDITIONS), by_usage, min_size=1))
def test_shares__whatever_was_done__add_up_and_have_a_column(seconds: dict[str, dict[str, float]]) -> None:
    found = shares({"seconds": seconds})
    assert sum(found.values()) == pytest.approx(1.0)
    assert set(found) <= set(SHARES)
