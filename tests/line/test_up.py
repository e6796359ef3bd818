"""`labledger up` as a person runs it: started, used, started twice, stopped, started again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.embedded.cluster import Cluster
from tests.harness.running import SAMPLES
from tests.harness.waiting import until

LABLEDGER = [sys.executable, "-m", "api.cli"]
START_SECONDS = 60.0


class Up:
    """One `labledger up` and what it has printed."""

    def __init__(self, data: Path, *flags: str) -> None:
        self.data = data
        self.printed = data.with_suffix(".out")
        with self.printed.open("wb") as out:
            command = [*LABLEDGER, "up", "--data", str(data), "--port", "0", *flags]
            self.process = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=_environment()
            )

    def text(self) -> str:
        return self.printed.read_text("utf-8")

    def wait_ready(self) -> None:
        def ready() -> bool:
            assert self.process.poll() is None, self.text()
            return "Ctrl-C stops everything" in self.text()

        until(ready, "up to be ready", START_SECONDS)

    def labledger(self, *arguments: str) -> str:
        command = [*LABLEDGER, *arguments, "--data", str(self.data)]
        done = subprocess.run(
            command, env=_environment(), capture_output=True, text=True, timeout=90, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


@pytest.fixture
def data() -> Iterator[Path]:
    """In a folder that every user may enter, so that the cluster lies in it and goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="labledger-tests-"))
    folder.chmod(0o755)
    yield folder / "data"
    Cluster(folder / "data" / "postgresql").stop()
    shutil.rmtree(folder)


def test_up__demo_used_stopped_and_started_again__everything_is_still_there(data: Path) -> None:
    with up(data, "--demo") as first:
        assert "new data in" in first.text()
        assert first.text().count("admin token: ll_") == 1
        connection = json.loads((data / "connection.json").read_text())
        assert (data / "connection.json").stat().st_mode & 0o777 == 0o600
        until(lambda: "store-01" in first.labledger("systems"), "the demo lab")
        shown = first.labledger("submit", "--wait", str(SAMPLES / "kernel-smoke.xml"))
        assert "completed" in shown
        children = _processes_naming(str(data))
        assert len(children) >= 4
        assert first.stop() == 0
    assert _processes_naming(str(data)) == []

    with up(data) as again:
        assert "continuing on existing data" in again.text()
        assert "admin token" not in again.text()
        assert json.loads((data / "connection.json").read_text())["token"] == connection["token"]
        assert "completed" in again.labledger("jobs")
        assert "recipe.completed" in again.labledger("events", "--subject", "recipe/1")


def test_up__twice_on_the_same_data__second_says_where_the_first_is(data: Path) -> None:
    with up(data) as first:
        url = json.loads((data / "connection.json").read_text())["url"]
        second = Up(data)
        assert second.process.wait(30) == 1
        assert "already" in second.text() and url in second.text()
        assert first.process.poll() is None


def test_up__killed__leaves_nothing_and_starts_again(data: Path) -> None:
    with up(data) as first:
        first.process.kill()
        first.process.wait()
        until(lambda: not _services(str(data)), "the services to end with it")
    with up(data) as again:
        assert "continuing on existing data" in again.text()


@contextmanager
def up(data: Path, *flags: str) -> Iterator[Up]:
    started = Up(data, *flags)
    try:
        started.wait_ready()
        yield started
    finally:
        if started.process.poll() is None:
            started.stop()


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("LABLEDGER_")}


def _processes_naming(text: str) -> list[str]:
    """The command lines and environments of live processes that mention a text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().decode("utf-8", "replace").replace("\0", " ")
            told = (folder / "environ").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if text in line or f"LABLEDGER_DATA={text}" in told:
            found.append(line)
    return found


def _services(data: str) -> list[str]:
    return [line for line in _processes_naming(data) if "api.cli" in line]
