"""`up` waits as long as the read models progress."""

from __future__ import annotations

from itertools import count
from typing import Any

import click
import pytest

from cli.service.until_ready import ProgressLines, StallTimeout, until_ready
from runtime.processes.supervisor import Supervisor
from runtime.settings import Settings
from tests.cli.loopback import Answer, LoopbackServer

END = 100
BUILDING = "they are being built"


class FakeClock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def at(position: int, **faults: str) -> Answer:
    """Return the answer of /readyz for read models at a position, with these faults."""
    checks: dict[str, dict[str, Any]] = {
        "read_models": {"position": position, "lag_events": END - position},
        "scheduler": {},
    }
    for name, check in checks.items():
        check["ok"] = name not in faults
        if name in faults:
            check["detail"] = faults[name]
    return Answer({"ready": not faults, "checks": checks}, status=503 if faults else 200)


def wait(server: LoopbackServer, seconds: float) -> None:
    settings = Settings.read({}, url=server.url, ready_seconds=seconds)
    until_ready(settings, Supervisor(1), lambda: False)


def test_up__read_models_progress_for_longer_than_the_timeout__waits(
    server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    positions = count(1)

    def answer(_: object) -> Answer:
        position = next(positions)
        return at(position, read_models=BUILDING) if position < 20 else at(END)

    server.on("GET", "/readyz", answer)
    wait(server, seconds=0.3)
    assert capsys.readouterr().out == f"the read models have 1 of {END} events\n"


def test_up__read_models_stand_still__gives_up_and_says_why(server: LoopbackServer) -> None:
    server.on("GET", "/readyz", at(7, read_models=BUILDING))
    with pytest.raises(
        click.ClickException, match=rf"made no progress for 0\.3 s \(read_models: {BUILDING}\)"
    ):
        wait(server, seconds=0.3)


def test_up__another_check_fails_while_events_come__gives_up(server: LoopbackServer) -> None:
    positions = count(1)
    server.on("GET", "/readyz", lambda _: at(next(positions), scheduler="nobody holds its lease"))
    with pytest.raises(click.ClickException, match="scheduler: nobody holds its lease"):
        wait(server, seconds=0.3)


def test_up__no_answer__gives_up() -> None:
    nobody = Settings.read({}, url="http://127.0.0.1:1", ready_seconds=0.3)
    with pytest.raises(click.ClickException, match=r"made no progress for 0\.3 s$"):
        until_ready(nobody, Supervisor(1), lambda: False)


def test_timeout__progress__starts_again() -> None:
    timeout = StallTimeout(60, clock := FakeClock())
    clock.now += 59
    timeout.reached(1)
    clock.now += 59
    assert not timeout.is_over()
    timeout.reached(1)
    clock.now += 2
    assert timeout.is_over()


def test_lines__progress_all_the_time__one_in_ten_seconds() -> None:
    said: list[str] = []
    lines = ProgressLines(said.append, clock := FakeClock())
    for position in range(21):
        lines.show(position, END)
        clock.now += 1
    assert [line.split()[4] for line in said] == ["0", "10", "20"]
