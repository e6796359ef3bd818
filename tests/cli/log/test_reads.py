"""`labledger reads`: the recorded reads of auditors."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

READ = {
    "read_id": 7,
    "recorded_at": "2026-01-01T00:00:00Z",
    "user": "carol",
    "role": "auditor",
    "token_id": "0123456789ab",
    "method": "GET",
    "path": "/events",
    "query": "subject=recipe%2F1",
    "request_id": "one",
}


def test_reads__several__a_line_each_and_the_option_for_more(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/reads", Answer({"position": 9, "reads": [READ], "next": 7}))
    result = run("reads", "--user", "carol", "--after", "6", "--limit", "1")
    words = result.stdout.splitlines()[-1].split()
    assert words[1:-1] == ["2026-01-01", "00:00:00", "carol", "0123456789ab", "GET"]
    assert words[-1] == "/events?subject=recipe/1"
    assert "--after 7" in result.stderr
    assert server.asked[0].query == {"user": ["carol"], "after": ["6"], "limit": ["1"]}


def test_reads__streams__show_where_they_started(server: LoopbackServer, run: Run) -> None:
    streams = [{**READ, "is_stream": True, "last_event_id": after} for after in ("41", None)]
    server.on("GET", "/reads", Answer({"position": 9, "reads": streams, "next": None}))
    resumed, begun = run("reads", "--wide").stdout.splitlines()[-2:]
    assert resumed.endswith("/events?subject=recipe/1 as a stream after 41")
    assert begun.endswith("/events?subject=recipe/1 as a stream")


def test_reads__none__says_so(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/reads", Answer({"position": 9, "reads": [], "next": None}))
    result = run("reads")
    assert (result.stdout, result.stderr) == ("No auditor has read anything.\n", "")


def test_reads__of_a_user_without_reads__names_the_user(real: Run) -> None:
    result = real("reads", "--user", "alice")
    assert (result.exit_code, result.stdout) == (0, "alice has read nothing as an auditor.\n")
    assert real("reads", "--user", "alice", "--after", "3").stdout.endswith("auditor after 3.\n")


def test_reads__of_an_unknown_user__is_refused(real: Run) -> None:
    result = real("reads", "--user", "nobody")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nobody" in result.stderr and "`labledger users` to list" in result.stderr
