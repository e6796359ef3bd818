"""Commands in a terminal: tables, live views, Ctrl-C, and a restart of the server."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.pseudo_terminal import CTRL_C, terminal
from tests.harness.databases import TestDatabase
from tests.harness.running import SAMPLES, Running, running

UGLY = ("Aborted!", "Traceback", "KeyboardInterrupt")


@pytest.fixture
def environment(service: Running, tmp_path: Path) -> dict[str, str]:
    return {**service.environment, "XDG_CONFIG_HOME": str(tmp_path)}


@pytest.mark.parametrize("columns", [80, 120])
def test_systems__in_a_terminal__no_name_is_cut(environment: dict[str, str], columns: int) -> None:
    with terminal("systems", environment=environment, columns=columns) as shown:
        assert shown.end() == 0
    lines = shown.text.splitlines()
    assert max(map(len, lines)) <= columns
    assert sum("store-01.west.example.com" in line for line in lines) == 1
    assert "\x1b[32m" in shown.raw
    assert ("columns not shown" in shown.text) == (columns == 80)


def test_systems__wide__leaves_nothing_out(environment: dict[str, str]) -> None:
    with terminal("systems", "--wide", environment=environment) as shown:
        assert shown.end() == 0
    assert "columns not shown" not in shown.text and "pools" in shown.text


@pytest.mark.parametrize("command", ["systems", "events", "overview"])
def test_colours__unwanted__are_not_printed(environment: dict[str, str], command: str) -> None:
    with terminal(command, environment={**environment, "NO_COLOR": "1"}) as shown:
        shown.end()
    assert not any(f"\x1b[{code}m" in shown.raw for code in ("31", "32", "33", "36", "1;36"))


@pytest.mark.parametrize("arguments", [("events", "--follow"), ("overview", "--watch", "--every", "0.2")])
def test_live__ctrl_c__ends_it_without_a_traceback(
    environment: dict[str, str], arguments: tuple[str, ...]
) -> None:
    with terminal(*arguments, environment=environment, columns=120) as shown:
        shown.wait_for("registered" if arguments[0] == "events" else "lab.east.example.com")
        shown.type(CTRL_C)
        assert shown.end() == 130
    assert not any(word in shown.text for word in UGLY)


def test_watch__ctrl_c__prints_the_command_to_continue(service: Running, environment: dict[str, str]) -> None:
    job = str(service.json("submit", str(SAMPLES / "kernel-smoke.xml"))["job_id"])
    with terminal("watch", job, environment=environment) as shown:
        shown.wait_for(f"job {job}: waiting")
        shown.type(CTRL_C)
        assert shown.end() == 130
    assert f"labledger watch {job}" in shown.text
    assert not any(word in shown.text for word in UGLY)
    service.labledger("cancel", job)


@pytest.fixture
def own(database: TestDatabase) -> Iterator[Running]:
    """Run a service that the test may stop and start."""
    with running(database) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        yield started


@pytest.mark.soak
def test_followers__service_started_again__go_on_where_they_were(own: Running) -> None:
    job = str(own.json("submit", str(SAMPLES / "kernel-smoke.xml"))["job_id"])
    with (
        terminal("watch", job, environment=own.environment) as watched,
        terminal("events", "--follow", "--types", "job.submitted", environment=own.environment) as followed,
    ):
        watched.wait_for("waiting")
        followed.wait_for(f"job/{job}")
        own.kill("serve", signal.SIGTERM)
        followed.wait_for("retrying")
        own.start("serve")
        own.wait_ready()
        second = own.json("submit", str(SAMPLES / "kernel-smoke.xml"))["job_id"]
        own.labledger("lab", "simulate", "--once", "--speed", "100000")
        followed.wait_for(f"job/{second}")
        assert watched.end() == 0
        followed.type(CTRL_C)
        assert followed.end() == 130
    assert followed.text.count(f"job/{job}\n") == 1
    assert f"job {job}: completed" in watched.text


def test_interrupted__while_it_waits_for_a_server__is_status_130(tmp_path: Path) -> None:
    """The signal is sent to a process without a terminal, as by a supervisor."""
    script = "import sys; print('up', flush=True); sys.argv[0] = 'labledger'; from cli import main; main()"
    command = [sys.executable, "-c", script, "events", "--follow", "--url", "http://127.0.0.1:1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "retrying" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "")
