"""`labledger usage --report`: its tables, and the time span above them."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

REPORT = {
    "position": 9,
    "since": "2026-10-30T10:00:00Z",
    "until": "2026-11-29T10:00:00Z",
    "unused_systems": [],
    "users": [{"user": "ada", "seconds": 7_200.0}],
    "waiting_requirements": [
        {"requirement": "<memory op='>' value='1'/>", "recipes": 4, "recipe_id": 17, "wait_seconds": 90_000.0}
    ],
}


def test_report__lists__have_the_time_span_and_words_for_each_number(
    server: LoopbackServer, run: Callable[..., Result]
) -> None:
    server.on("GET", "/usage-report", Answer(REPORT))
    printed = [" ".join(line.split()) for line in run("usage", "--report", "--wide").stdout.splitlines()]
    assert [line for line in printed if line and "─" not in line] == [
        "from 2026-10-30 10:00 until 2026-11-29 10:00 (UTC)",
        "Systems that nobody used: none.",
        "Users who had systems longest",
        "user time of systems",
        "ada 2h 0m",
        "Requirements that wait longest",
        "wait systems wanted oldest recipe requirement",
        "1d 1h 4 17 <memory op='>' value='1'/>",
    ]
