"""What a reader of the docs has at hand: `labledger up --demo`, and a terminal for each person of a page."""

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

# What stands in the pages.
URL = "http://127.0.0.1:8080"
TOKEN = re.compile(r"\bll_[\w-]{20,}")
START_SECONDS = 180.0
STOP_SECONDS = 30.0
# What a reader finds in the folder of the checkout.
SHARED = ("replay", "docs", "deploy")


class Demo:
    """A service with data, port and folders of its own. The first terminal is of who has started it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._terminals: dict[str, Shell] = {}
        self._data = folder / "home" / ".local" / "share" / "labledger"
        self._printed = folder / "up.out"
        self.url = ""
        self._make_program()

    def _make_program(self) -> None:
        script = self._folder / "bin" / "labledger"
        script.parent.mkdir()
        script.write_text(f'#!/bin/sh\nPYTHONPATH={TOP} exec {sys.executable} -m cli "$@"\n', "utf-8")
        script.chmod(0o755)

    def start(self) -> None:
        command = [sys.executable, "-m", "cli", "up", "--demo", "--data", str(self._data), "--port", "0"]
        with self._printed.open("wb") as out:
            self._up = subprocess.Popen(
                command, cwd=TOP, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=self._environment()
            )
        deadline = time.monotonic() + START_SECONDS
        while not (self._is_loaded() and self._is_calm()):
            assert self._up.poll() is None, self._printed.read_text("utf-8")
            assert time.monotonic() < deadline, f"not ready: {self._printed.read_text('utf-8')}"
            time.sleep(0.1)

    def _is_loaded(self) -> bool:
        """The simulator comes last, when the lab is loaded."""
        if "lab simulate runs" not in self._printed.read_text("utf-8"):
            return False
        self.url = json.loads((self._data / "connection.json").read_text("utf-8"))["url"]
        return True

    def _is_calm(self) -> bool:
        """As a reader finds it who has changed to another terminal: every system asked, every lab heard."""
        kept = json.loads((self._data / "connection.json").read_text("utf-8"))
        headers = {"Authorization": f"Bearer {kept['token']}"}
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
        """The command as it stands in a page; what it prints, as it may stand there."""
        if terminal not in self._terminals:
            self._terminals[terminal] = self._new_terminal(terminal)
        printed = self._terminals[terminal].run(command.replace(URL, self.url), **how)
        return Printed([self._anywhere(line) for line in printed.lines], printed.status)

    def _new_terminal(self, name: str) -> Shell:
        if name and not name.isalpha():
            raise BadPage(f"a terminal cannot be called {name!r}")
        home = self._folder / (name or "home")
        checkout = home / "labledger"
        checkout.mkdir(parents=True)
        for shared in SHARED:
            (checkout / shared).symlink_to(TOP / shared)
        # Where root looks unless told otherwise is no place of these people.
        data = {} if name else {"LABLEDGER_DATA": str(self._data)}
        return Shell(checkout, home, self._environment(**data))

    def _anywhere(self, line: str) -> str:
        """Without what is of this run and this machine."""
        for name in ("home", *filter(None, self._terminals)):
            line = line.replace(str(self._folder / name), "~")
        return TOKEN.sub("ll_…", line.replace(self.url, URL))

    def _environment(self, **more: str) -> dict[str, str]:
        """That of a person who has set nothing for Labledger."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(
                ("LABLEDGER_", "XDG_", "PYTHON", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
            )
        }
        path = f"{self._folder / 'bin'}:{os.environ.get('PATH', os.defpath)}"
        return {**kept, "PATH": path, "TZ": "UTC", "LC_ALL": "C.UTF-8", **more}


@contextmanager
def demo() -> Iterator[Demo]:
    """In a folder that every user may enter, so that the database lies in it and goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="labledger-docs-"))
    folder.chmod(0o755)
    made = Demo(folder)
    try:
        made.start()
        yield made
    finally:
        with undisturbed():
            made.stop()
            shutil.rmtree(folder)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Who is told twice to end still cleans up."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
