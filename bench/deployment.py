"""A `labledger up` with all its processes, which a benchmark may kill and `up` restarts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import httpx

from api.client.connection_file import Connection
from bench.cluster_fixture import (
    DIRECTLY,
    HOST,
    READY_SECONDS,
    STOP_SECONDS,
    BenchCluster,
    ignore_signals,
    interruptible,
)
from bench.settling import wait_until
from runtime.embedded.cluster import Cluster
from runtime.embedded.database import remove_libpq_variables
from runtime.embedded.ports import any_free
from runtime.processes.programs import program
from runtime.processes.supervisor import end, spawn
from runtime.settings import Settings
from store.event_log import EventLog

API, API_WORKER, SCHEDULER, POSTGRESQL = "api", "api_worker", "scheduler", "postgresql"


@dataclass
class Deployment(BenchCluster):
    """A cluster in which all services run from the beginning, started by the process `up_pid`."""

    up_pid: int = 0

    def start(self, *services: str) -> None:
        """Do nothing: all services run."""

    def stop(self, *services: str) -> None:
        """Do nothing: all services keep running."""

    def kill(self, part: str) -> None:
        """Kill a process with SIGKILL, and wait for its end."""
        pid = self._pid(part)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: _parent(pid) is None, f"{part} does not die", STOP_SECONDS)

    def _pid(self, part: str) -> int:
        if part == POSTGRESQL:
            pid = Cluster(self.settings.data / "postgresql").pid
            assert pid is not None, "PostgreSQL runs"
            return pid
        if part == API_WORKER:
            return _child(self._pid(API), "")
        if part == SCHEDULER:
            # The process that decides, not its parent.
            return _child(_child(self.up_pid, " scheduler"), "")
        return _child(self.up_pid, " serve" if part == API else f" {part}")


@contextmanager
def deployment() -> Iterator[BenchCluster]:
    """Yield a deployment, and remove everything at the end."""
    remove_libpq_variables()
    with interruptible(), TemporaryDirectory(prefix="labledger-bench-") as folder, ExitStack() as stack:
        data = Path(folder) / "data"
        postgresql = Cluster(data / "postgresql")
        stack.callback(postgresql.remove)
        port = any_free(HOST)
        settings = Settings(data=data, port=port, requests_per_second=0, log_level="error", access_log=False)
        output = stack.enter_context(_printed_after_failure(Path(folder) / "up.log"))
        process = spawn(program("up", settings), output=output)
        stack.callback(end, process, STOP_SECONDS, "up")
        stack.callback(ignore_signals)
        url = f"http://{HOST}:{port}"
        wait_until(lambda: _is_ready(url, process), "`labledger up` does not get ready", READY_SECONDS)
        owner_url = postgresql.start().owner_url
        connection = Connection.load(replace(settings, url=url))
        assert connection.token is not None, "`up` has written the token"
        log = stack.enter_context(closing(EventLog(owner_url)))
        service_settings = replace(settings, url=url, database_url=owner_url)
        yield Deployment(service_settings, owner_url, connection.token, log, up_pid=process.pid)


@contextmanager
def _printed_after_failure(file: Path) -> Iterator[IO[bytes]]:
    """Yield a file for the output of `up`, and print it only after a failure."""
    with file.open("wb") as output:
        try:
            yield output
        except Exception:
            sys.stderr.write(file.read_text(encoding="utf-8", errors="replace"))
            raise


def _is_ready(url: str, process: subprocess.Popen[bytes]) -> bool:
    if process.poll() is not None:
        raise RuntimeError("`labledger up` has ended")
    try:
        return httpx.get(f"{url}/readyz", timeout=5, **DIRECTLY).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _child(parent: int, ending: str) -> int:
    """Return the oldest child whose command line has this ending: `up` starts its spare processes later."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return min(
        (pid for pid in pids if _parent(pid) == parent and _command(pid).endswith(ending)), key=_start_time
    )


def _start_time(pid: int) -> int:
    return int(_stat(pid)[19])


def _parent(pid: int) -> int | None:
    """Return the parent of a process, None if it has ended or is a zombie."""
    try:
        state, parent = _stat(pid)[:2]
    except (OSError, ValueError):
        return None
    return None if state == "Z" else int(parent)


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[-1].split()


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""
