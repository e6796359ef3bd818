"""Labledger as its users run it: real processes on a real database, used by HTTP and command line."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
from click.testing import CliRunner

from api import database_setup
from cli import main
from tests.harness.contract import Contract
from tests.harness.databases import TestDatabase
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.waiting import wait_until

SAMPLES = Path(__file__).parents[2] / "replay" / "samples"
STOP_SECONDS = 60.0
# Short enough that no lab controller becomes silent.
CONTACT_SECONDS = 30.0


@dataclass
class Running:
    """The processes of one service; `start` and `kill` act on one of them."""

    database: TestDatabase
    url: str
    token: str
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    # LABLEDGER_* variables of every process.
    settings: Mapping[str, str] = field(default_factory=dict)
    _end: int = 0
    _stopped: Event = field(default_factory=Event)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LABLEDGER_")}
        return {
            **kept,
            "LABLEDGER_DATABASE_URL": self.database.service_url,
            "LABLEDGER_URL": self.url,
            "LABLEDGER_TOKEN": self.token,
            "LABLEDGER_LOG_LEVEL": "warning",
            **self.settings,
        }

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def start(self, *arguments: str, name: str | None = None) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "cli", *arguments]
        if arguments[0] == "serve":
            command += ["--port", str(self.port)]
        process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL)
        self.processes[name or arguments[0]] = process
        return process

    def kill(self, name: str, how: signal.Signals = signal.SIGKILL) -> None:
        process = self.processes.pop(name)
        process.send_signal(how)
        process.wait(STOP_SECONDS)

    def stop(self) -> None:
        self._stopped.set()
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()

    def client(self, token: str | None = None) -> httpx.Client:
        """Return a client that fails at an answer that `/openapi.json` does not promise."""
        return httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token or self.token}"},
            event_hooks={"response": [self._contract.check]},
            # Less than a long poll may take: a test that waits for the end of one has failed.
            timeout=45,
            **LOCAL_HTTP,
        )

    @cached_property
    def _contract(self) -> Contract:
        return Contract(self.url)

    def make_contact(self, *labs: str) -> None:
        """Record a contact of these lab controllers, or of all: only then do their systems get recipes."""
        with self.client() as admin:
            # The labs may have been registered a moment ago.
            listed = admin.get("/lab-controllers", params={"min_position": self.end()})
            fqdns = labs or [lab["fqdn"] for lab in listed.json()["lab_controllers"]]
            self._ask_for_commands(fqdns)
            wait_until(lambda: not _silent(admin, fqdns), f"a contact of {fqdns}")
        asking = Thread(target=self._keep_asking, args=(fqdns,), daemon=True)
        asking.start()

    def _keep_asking(self, labs: Sequence[str]) -> None:
        """Ask for commands at intervals, as lab controllers do."""
        while not self._stopped.wait(CONTACT_SECONDS):
            # The service may have been killed.
            with suppress(httpx.TransportError):
                self._ask_for_commands(labs)

    def _ask_for_commands(self, labs: Sequence[str]) -> None:
        for lab in labs:
            headers = {"Authorization": f"Bearer {self.token}", "Labledger-Acts-As": lab}
            httpx.get(f"{self.url}/lab-controllers/{lab}/commands", headers=headers, timeout=30, **LOCAL_HTTP)

    def wait_ready(self) -> None:
        wait_until(self._is_ready, "the service to be ready")

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5, **LOCAL_HTTP).status_code == 200
        except httpx.TransportError:
            return False

    def labledger(self, *arguments: str, status: int = 0) -> str:
        """Return the output of a command; fail if its exit status is not `status`."""
        command = [sys.executable, "-m", "cli", *arguments]
        done = subprocess.run(
            command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout if status == 0 else done.stdout + done.stderr

    def do(self, *arguments: str) -> None:
        """Run a command in this process, which is faster: for the setup of a test."""
        others = dict.fromkeys(name for name in os.environ if name.startswith("LABLEDGER_"))
        done = CliRunner(env={**others, **self.environment}).invoke(main, arguments)
        assert done.exit_code == 0, f"{arguments}: {done.exit_code}\n{done.output}"

    def json(self, *arguments: str) -> Any:
        return json.loads(self.labledger(*arguments, "--json"))

    def events(self, after: int = 0) -> list[dict[str, Any]]:
        """Return all events after a position."""
        found: list[dict[str, Any]] = []
        with self.client() as client:
            while True:
                page = client.get("/events", params={"after": after, "limit": 1000}).json()
                found += page["events"]
                if page["next"] is None:
                    return found
                after = page["next"]

    def end(self) -> int:
        """Return the last position of the log."""
        for event in self.events(self._end):
            self._end = int(event["position"])
        return self._end


@contextmanager
def running(database: TestDatabase, *services: str, **settings: str) -> Iterator[Running]:
    """Start the processes (by default all) with these LABLEDGER_* variables and wait until they are ready."""
    token = database_setup.first_admin_token(database.settings)
    assert token is not None
    with ExitStack() as stack:
        service = Running(database, f"http://127.0.0.1:{free_port()}", token, settings=settings)
        stack.callback(service.stop)
        for name in services or ("serve", "scheduler", "projector"):
            service.start(name)
        service.wait_ready()
        yield service


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _silent(client: httpx.Client, labs: Sequence[str]) -> list[str]:
    return [lab for lab in labs if client.get(f"/lab-controllers/{lab}").json()["silent"]]
