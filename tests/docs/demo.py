"""The environment of a reader of the docs: `labledger up --demo`, and a terminal for each person."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from runtime.embedded.cluster import Cluster
from tests.docs.page import TOP, BadPage
from tests.docs.shell import Printed, Shell
from tests.harness.http_options import LOCAL_HTTP

# The URL in the pages.
URL = "http://127.0.0.1:8080"
LOGS_URL = "http://127.0.0.1:8081"
SIMULATED_LOG = re.compile(r"http://127\.0\.0\.1:\d+(/recipe-\d+/task-)")
# Ten times the default of `up --demo`.
FAST = "600"
TOKEN = re.compile(r"\bll_[\w-]{20,}")
START_SECONDS = 180.0
STOP_SECONDS = 30.0
# Folders of the checkout that commands in the pages use.
SHARED = ("replay", "docs", "deploy")


class Demo:
    """A service with its own data, port and folders. The first terminal is that of its admin."""

    def __init__(self, folder: Path, *, is_fast: bool = False) -> None:
        self._folder = folder
        self._is_fast = is_fast
        self._terminals: dict[str, Shell] = {}
        self._data = folder / "home" / ".local" / "share" / "labledger"
        self._printed = folder / "up.out"
        self.url, self.token = "", ""
        self._make_program()

    def _make_program(self) -> None:
        script = self._folder / "bin" / "labledger"
        script.parent.mkdir()
        script.write_text(
            f'#!/bin/sh\nPYTHONPATH="{TOP}:$PYTHONPATH" exec {sys.executable} -m cli "$@"\n', "utf-8"
        )
        script.chmod(0o755)

    def start(self) -> None:
        command = [sys.executable, "-m", "cli", "up", "--demo", "--data", str(self._data), "--port", "0"]
        fast = {"LABLEDGER_CONSISTENCY_SECONDS": "1"} if self._is_fast else {}
        command += ["--speed", FAST] if self._is_fast else []
        with self._printed.open("wb") as out:
            self._up = subprocess.Popen(
                command,
                cwd=TOP,
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                env=self._environment(**fast),
            )
        deadline = time.monotonic() + START_SECONDS
        while not (self._is_loaded() and self._is_calm()):
            assert self._up.poll() is None, self._printed.read_text("utf-8")
            assert time.monotonic() < deadline, f"not ready: {self._printed.read_text('utf-8')}"
            time.sleep(0.1)

    def _is_loaded(self) -> bool:
        """Return whether the simulator runs; it starts last, after the lab is loaded."""
        if "lab simulate started" not in self._printed.read_text("utf-8"):
            return False
        kept = json.loads((self._data / "connection.json").read_text("utf-8"))
        self.url, self.token = kept["url"], kept["token"]
        return True

    def _is_calm(self) -> bool:
        """Return whether all Automated systems are idle and all labs are heard, as a reader finds them."""
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx.Client(base_url=self.url, headers=headers, **LOCAL_HTTP, timeout=10) as client:
            systems = client.get("/systems").json()["systems"]
            idle = client.get("/idle-pool").json()["systems"]
            labs = client.get("/lab-controllers").json()["lab_controllers"]
        automated = sum(system["condition"] == "Automated" for system in systems)
        return len(idle) == automated and all(lab["last_heard_at"] for lab in labs)

    def stop(self) -> None:
        if self._up.poll() is None:
            self._up.send_signal(signal.SIGTERM)
            try:
                self._up.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._up.kill()
                self._up.wait()
        Cluster(self._data / "postgresql").stop()

    def run(self, command: str, terminal: str = "", **how: str | list[str] | None) -> Printed:
        """Run a command of a page; return its output in the form of the pages."""
        if terminal not in self._terminals:
            self._terminals[terminal] = self._new_terminal(terminal)
        printed = self._terminals[terminal].run(command.replace(URL, self.url), **how)
        return Printed([self._anywhere(line) for line in printed.lines], printed.status)

    def _new_terminal(self, name: str) -> Shell:
        if name and not name.isalpha():
            raise BadPage(f"invalid name of a terminal: {name!r}; use letters")
        home = self._folder / (name or "home")
        checkout = home / "labledger"
        checkout.mkdir(parents=True)
        for shared in SHARED:
            (checkout / shared).symlink_to(TOP / shared)
        # The default data folder of root is not that of these people.
        data = {} if name else {"LABLEDGER_DATA": str(self._data)}
        return Shell(checkout, home, self._environment(**data))

    def _anywhere(self, line: str) -> str:
        """Replace folders, tokens and the URL of this run with those of the pages."""
        for name in ("home", *filter(None, self._terminals)):
            line = line.replace(str(self._folder / name), "~")
        line = SIMULATED_LOG.sub(rf"{LOGS_URL}\1", line.replace(self.url, URL))
        return TOKEN.sub("ll_…", line)

    def _environment(self, **more: str) -> dict[str, str]:
        """Return an environment without variables that change Labledger or its output."""
        kept = {
            name: value
            for name, value in os.environ.items()
            # Processes of the demo record their locks, too.
            if name == "PYTHONPATH"
            or not name.startswith(
                ("LABLEDGER_", "XDG_", "PYTHON", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
            )
        }
        path = f"{self._folder / 'bin'}:{os.environ.get('PATH', os.defpath)}"
        return {**kept, "PATH": path, "TZ": "UTC", "LC_ALL": "C.UTF-8", **more}


@contextmanager
def demo(*, is_fast: bool = False) -> Iterator[Demo]:
    """Start a demo, `is_fast` with machines of the speed FAST.

    Every user may enter its folder, so that the database is in it and is removed with it.
    """
    folder = Path(tempfile.mkdtemp(prefix="labledger-docs-"))
    folder.chmod(0o755)
    made = Demo(folder, is_fast=is_fast)
    try:
        made.start()
        yield made
    finally:
        with undisturbed():
            made.stop()
            shutil.rmtree(folder)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore SIGTERM and SIGINT, so that a second signal does not stop the cleanup."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
