"""`up` waits for as long as read models move forward, and no longer than that."""

from __future__ import annotations

from itertools import count
from typing import Any

import click
import pytest

from cli.service.until_ready import ProgressLines, StallTimeout, until_ready
from runtime.processes.supervisor import Supervisor
from runtime.settings import Settings
from tests.cli.loopback import Answer, Server

END = 100
BUILDING = "they are being built"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def at(position: int, **faults: str) -> Answer:
    """What /readyz answers with read models that far, and these faults."""
    checks: dict[str, dict[str, Any]] = {
        "read_models": {"position": position, "lag_events": END - position},
        "scheduler": {},
    }
    for name, check in checks.items():
        check["ok"] = name not in faults
        if name in faults:
            check["detail"] = faults[name]
    return Answer({"ready": not faults, "checks": checks}, status=503 if faults else 200)


def wait(server: Server, seconds: float) -> None:
    settings = Settings.read({}, url=server.url, ready_seconds=seconds)
    until_ready(settings, Supervisor(1), lambda: False)


def test_up__read_models_move_for_longer_than_its_patience__waits(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    positions = count(1)

    def answer(_: object) -> Answer:
        position = next(positions)
        return at(position, read_models=BUILDING) if position < 20 else at(END)

    server.on("GET", "/readyz", answer)
    wait(server, seconds=0.3)
    assert capsys.readouterr().out == f"the read models have 1 of {END} events\n"


def test_up__read_models_stand_still__gives_up_and_says_why(server: Server) -> None:
    server.on("GET", "/readyz", at(7, read_models=BUILDING))
    with pytest.raises(
        click.ClickException, match=rf"nothing progressed for 0\.3 s \(read_models: {BUILDING}\)"
    ):
        wait(server, seconds=0.3)


def test_up__another_check_fails_while_events_come__gives_up(server: Server) -> None:
    positions = count(1)
    server.on("GET", "/readyz", lambda _: at(next(positions), scheduler="nobody holds its lease"))
    with pytest.raises(click.ClickException, match="scheduler: nobody holds its lease"):
        wait(server, seconds=0.3)


def test_up__nobody_answers__gives_up() -> None:
    nobody = Settings.read({}, url="http://127.0.0.1:1", ready_seconds=0.3)
    with pytest.raises(click.ClickException, match=r"nothing progressed for 0\.3 s$"):
        until_ready(nobody, Supervisor(1), lambda: False)


def test_patience__something_moves__begins_anew() -> None:
    patience = StallTimeout(60, clock := Clock())
    clock.now += 59
    patience.reached(1)
    clock.now += 59
    assert not patience.is_over()
    patience.reached(1)
    clock.now += 2
    assert patience.is_over()


def test_lines__told_all_the_time__one_in_ten_seconds() -> None:
    said: list[str] = []
    lines = ProgressLines(said.append, clock := Clock())
    for position in range(21):
        lines.show(position, END)
        clock.now += 1
    assert [line.split()[4] for line in said] == ["0", "10", "20"]
