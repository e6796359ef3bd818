"""Shell completion as a shell calls it, and commands that wait for a service."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

from cli.service.until_ready import ProgressLines, StallTimeout, until_ready
from runtime.processes.supervisor import Supervisor
from runtime.settings import Settings
from tests.cli.loopback import Answer, LoopbackServer
from tests.harness.running import Running

Run = Callable[..., Result]
Complete = Callable[..., list[str]]

JOBS = [{"job_id": 12, "whiteboard": "kernel smoke"}, {"job_id": 7, "whiteboard": "two\nlines, one comma"}]


@pytest.fixture
def complete(server: LoopbackServer, tmp_path: Path) -> Complete:
    """Return a function that returns the completions of the last of some words."""

    def complete(*words: str, shell: str = "bash", url: str = server.url) -> list[str]:
        variables = {"LABLEDGER_URL": url, "LABLEDGER_TOKEN": "ll_test", "XDG_CONFIG_HOME": str(tmp_path)}
        return ask(shell, {**os.environ, **variables}, *words)

    return complete


def ask(shell: str, environment: dict[str, str], *words: str) -> list[str]:
    # bash and zsh pass the index of the word, fish passes the word.
    cursor = words[-1] if shell == "fish" else str(len(words))
    line = " ".join(("labledger", *words))
    asked = {"_LABLEDGER_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": cursor}
    done = subprocess.run(
        [sys.executable, "-m", "cli"],
        env=environment | asked,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def values(lines: list[str]) -> list[str]:
    """Return the values in the lines for bash."""
    return [line.partition(",")[2] for line in lines]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["sys"], ["systems", "system"]),
        (["system", "dr"], ["drain"]),
        (["set-priority", "3", "u"], ["Urgent"]),
        (["system", "condition", "a.b", "b"], ["Broken"]),
        (["token", "create", "--role", "la"], ["lab-controller"]),
        (["events", "--types", "recipe.queued,recipe.assi"], ["recipe.queued,recipe.assigned"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["user", "put", "x", "--role", "A"], ["admin", "auditor"]),
        (["queue", "--js"], ["--json"]),
    ],
)
def test_complete__no_server__offers_commands_and_fixed_words(
    complete: Complete, words: list[str], offered: list[str]
) -> None:
    assert values(complete(*words)) == offered


def test_complete__commands__imports_none_of_them() -> None:
    script = "import sys; from cli import main; import click.shell_completion as s;"
    script += "s.BashComplete(main, {}, 'labledger', 'X').get_completions([], 's'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"cli.jobs.submit", "cli.service.services", "httpx", "rich"} & set(done.stdout.split())


def test_complete__names_and_ids__are_asked_of_the_server(server: LoopbackServer, complete: Complete) -> None:
    systems = [{"fqdn": fqdn, "condition": "Manual"} for fqdn in ("a.example.com", "b.example.com")]
    server.on("GET", "/systems", Answer({"systems": systems, "next": None}))
    server.on("GET", "/jobs", Answer({"jobs": JOBS, "next": None}))
    assert values(complete("system", "show", "a")) == ["a.example.com"]
    assert values(complete("cancel", "1")) == ["12"]
    assert server.asked[0].headers["Authorization"] == "Bearer ll_test"


@pytest.mark.parametrize(
    "command", ["jobs", "queue", "idle", "systems", "lab-controllers", "usage", "events", "submit"]
)
def test_complete__partition_of_a_list__is_asked_of_the_server(
    server: LoopbackServer, complete: Complete, command: str
) -> None:
    named = [{"name": name, "state": "active"} for name in ("default", "other", "ocean")]
    server.on("GET", "/partitions", Answer({"position": 1, "partitions": named}))
    assert values(complete(command, "--partition", "o")) == ["other", "ocean"]
    # The list has no pages, and so no limit.
    assert server.asked[0].query == {}


@pytest.mark.parametrize("options", [[], ["--partition", "gpu"]])
def test_complete__queue_of_a_job__is_a_leaf_of_its_partition(
    server: LoopbackServer, complete: Complete, options: list[str]
) -> None:
    paths = ("root", "root.default", "root.kernel", "root.kernel.net", "root.kernel2")
    queues = [{"path": path, "state": "active"} for path in paths]
    partition = options[-1] if options else "default"
    server.on("GET", f"/partitions/{partition}/queues", Answer({"position": 1, "queues": queues}))
    offered = values(complete("submit", *options, "--queue", "root.k"))
    assert offered == ["root.kernel.net", "root.kernel2"]


@pytest.mark.parametrize(
    ("shell", "lines"),
    [
        ("bash", ["plain,12", "plain,7"]),
        ("zsh", ["plain", "12", "kernel smoke", "plain", "7", "two lines, one comma"]),
        ("fish", ["plain,12\tkernel smoke", "plain,7\ttwo lines, one comma"]),
    ],
)
def test_complete__every_shell__in_its_own_words(
    server: LoopbackServer, complete: Complete, shell: str, lines: list[str]
) -> None:
    server.on("GET", "/jobs", Answer({"jobs": JOBS, "next": None}))
    assert complete("watch", "", shell=shell) == lines


@pytest.mark.parametrize(
    "answer", [Answer({"title": "no"}, 401), Answer({"title": "away"}, 503), Answer(b"<html>")]
)
def test_complete__server_that_does_not_answer_well__offers_nothing(
    server: LoopbackServer, complete: Complete, answer: Answer
) -> None:
    server.on("GET", "/systems", answer)
    assert complete("system", "show", "") == [""]
    assert len(server.asked) == 1


def test_complete__no_server__offers_nothing(complete: Complete) -> None:
    assert complete("system", "show", "", url="http://127.0.0.1:1") == [""]


def test_complete__real_service__offers_its_systems(service: Running, tmp_path: Path) -> None:
    environment = {**service.environment, "XDG_CONFIG_HOME": str(tmp_path)}
    assert "store-01.west.example.com" in values(ask("bash", environment, "system", "reserve", "sto"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion__of_a_shell__is_a_script_and_how_to_install_it(run: Run, shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_LABLEDGER_COMPLETE" in result.stdout and f"{shell}_complete" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("# In every new shell: labledger completion")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion__script__is_read_by_its_shell(run: Run, tmp_path: Path, shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} here")
    script = tmp_path / "script"
    script.write_text(run("completion", shell).stdout, encoding="utf-8")
    subprocess.run([program, "-n", str(script)], check=True, timeout=30)


def test_completion__in_bash__completes_the_typed_word(run: Run, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    asks = "COMP_WORDS=(labledger system condition x br); COMP_CWORD=4; _labledger_completion labledger"
    script = f'{run("completion", "bash").stdout}\n{asks}; echo "${{COMPREPLY[@]}}"'
    folder = tmp_path / "bin"
    folder.mkdir()
    labledger = folder / "labledger"
    labledger.write_text(f'#!/bin/sh\nexec {sys.executable} -m cli "$@"\n', encoding="utf-8")
    labledger.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(
        [bash, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "Broken"


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
