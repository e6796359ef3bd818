"""A machine: a `labledger up` whose processes can be found and sent signals."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from runtime.embedded.cluster import Cluster
from tests.acceptance.up import Up
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.processes import children

SERVICES = ("serve", "scheduler", "projector", "notifier")
# The processes that a service of `up` forks -> that service.
PARENTS = {"worker": "serve", "scheduler": "scheduler"}


class Machine:
    def __init__(self, name: str, up: Up, url: str) -> None:
        """Create a machine. `url` reaches its API without a relay."""
        self.name = name
        self.up = up
        self.url = url

    def pids(self, role: str) -> list[int]:
        """Return the pids of a service.

        `worker` is the process that answers requests for `serve`, `scheduler` the one of each partition
        that decides, not their parent.
        """
        parent = self._service(PARENTS.get(role, role))
        if role in PARENTS:
            return children(parent) if parent else []
        return [parent] if parent else []

    def _service(self, name: str) -> int | None:
        return next((pid for pid in children(self.up.process.pid) if name in command_line(pid)), None)

    def ready(self) -> dict[str, Any] | None:
        """Return the checks of /readyz if all succeed, else None."""
        with suppress(httpx.HTTPError):
            answer = httpx.get(f"{self.url}/readyz", timeout=6, **LOCAL_HTTP)
            if answer.status_code == 200:
                checks: dict[str, Any] = answer.json()["checks"]
                return checks
        return None

    def is_whole(self) -> bool:
        assert self.up.process.poll() is None, f"the `up` of {self.name} has ended"
        return all(self.pids(role) for role in (*SERVICES, "worker"))

    def fenced(self) -> int:
        """Return the number of refused appends of its schedulers with an old epoch."""
        return self.up.text().count("has a later epoch")


class DatabaseMachine(Machine):
    """The machine with PostgreSQL."""

    @property
    def postmaster(self) -> int | None:
        return Cluster(self.up.data / "postgresql").pid

    def backends(self) -> list[int]:
        """Return the backends of the service's sessions."""
        postmaster = self.postmaster
        mine = children(postmaster) if postmaster else []
        return [pid for pid in mine if "labledger_api" in " ".join(command_line(pid))]

    def is_whole(self) -> bool:
        return super().is_whole() and self.postmaster is not None


def command_line(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    return []


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process, unless it has ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
