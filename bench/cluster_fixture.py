"""Labledger on a temporary PostgreSQL, with its processes started one by one."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx

from api import database_setup
from api.client import Client
from domain.errors import LabledgerError
from runtime.embedded.database import EmbeddedDatabase, remove_libpq_variables
from runtime.embedded.ports import any_free
from runtime.processes.child import python_module
from runtime.processes.programs import program
from runtime.processes.supervisor import end, spawn
from runtime.settings import Settings, require_url
from store.event_log import EventLog

READY_SECONDS = 120.0
STOP_SECONDS = 60.0
HOST = "127.0.0.1"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
AGAIN_SECONDS = 2.0
# Options of httpx for loopback: no proxy, and no system certificates, which take long to read.
DIRECTLY: Final[Mapping[str, Any]] = {"trust_env": False, "verify": False}


@dataclass
class BenchCluster:
    """The database and processes of a benchmark: `settings` of the services, and the `token` of an admin."""

    settings: Settings
    owner_url: str
    token: str
    log: EventLog
    _processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        assert self.settings.url is not None
        return self.settings.url

    @property
    def database_url(self) -> str:
        return require_url(self.settings.database_url)

    def start(self, *services: str) -> None:
        for name in services:
            self._processes[name] = spawn(program(name, self.settings))
        if "serve" in self._processes:
            self.wait_ready()

    def start_module(self, module: str, *arguments: str) -> None:
        """Start a program of the benchmark, which uses the API as the admin."""
        command = program(module, replace(self.settings, token=self.token))
        self._processes[module] = spawn(replace(command, argv=python_module(module, *arguments)))

    def command(self, *words: str) -> Any:
        """Run a command on the database as its owner, and return its JSON output."""
        command = program(" ".join([*words, "--json"]), replace(self.settings, database_url=self.owner_url))
        result = subprocess.run(command.argv, env=command.env, capture_output=True, text=True, check=False)
        if result.returncode:
            raise BenchCommandFailed(f"labledger {' '.join(words)}: {result.stderr or result.stdout}")
        return json.loads(result.stdout)

    def peak_mb(self, service: str) -> float:
        """Return the maximum over the process of a service and its children."""
        pid = self._processes[service].pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
        return max(map(peak_mb, [pid, *map(int, children.split())]))

    def pids(self) -> dict[str, int]:
        """Return the first process of each running service, and of PostgreSQL."""
        ((session,),) = self.log.rows(b"SELECT pg_backend_pid()", ())
        stat = Path(f"/proc/{session}/stat").read_text(encoding="utf-8")
        postgresql = int(stat.rpartition(")")[2].split()[1])
        return {**{name: process.pid for name, process in self._processes.items()}, "postgresql": postgresql}

    def stop(self, *services: str) -> None:
        for name in services:
            end(self._processes.pop(name), STOP_SECONDS, name)

    def stop_all(self) -> None:
        self.stop(*reversed(self._processes))

    def client(self) -> Client:
        return Client(self.url, self.token)

    def http_client(self, timeout_seconds: float) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=timeout_seconds, **DIRECTLY)

    def wait_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self._is_alive():
            if time.monotonic() > deadline:
                raise TimeoutError("the API does not answer")
            time.sleep(0.1)

    def _is_alive(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", timeout=5, **DIRECTLY).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False


def peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


@contextmanager
def bench_cluster(items_per_second: int = 0) -> Iterator[BenchCluster]:
    """Yield a cluster in which only the database runs, and remove everything at the end.

    `items_per_second` is the pace of each lab controller, 0 for none.
    """
    remove_libpq_variables()
    with interruptible(), TemporaryDirectory(prefix="labledger-bench-") as folder, ExitStack() as stack:
        # A snapshot of a million waiting recipes takes longer than a service usually has.
        settings = Settings(
            data=Path(folder) / "data", log_level="warning", access_log=False, stop_seconds=STOP_SECONDS / 2
        )
        database = EmbeddedDatabase(settings.data)
        stack.callback(database.remove)
        stack.callback(ignore_signals)
        owner = database.start(settings)
        database_setup.migrate(owner)
        token = database_setup.first_admin_token(owner)
        assert token is not None, "the log is new"
        port = any_free(HOST)
        # No rate limit, because all requests have one token.
        service_settings = replace(
            database.for_services(owner),
            owner_database_url=None,
            port=port,
            url=f"http://{HOST}:{port}",
            requests_per_second=0,
            items_per_second=items_per_second,
        )
        log = stack.enter_context(closing(EventLog(require_url(service_settings.database_url))))
        cluster = BenchCluster(service_settings, require_url(owner.database_url), token, log)
        stack.callback(cluster.stop_all)
        stack.callback(ignore_signals)
        yield cluster


class BenchCommandFailed(LabledgerError):
    """A `labledger` command of the benchmark failed."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT and SIGTERM within the context. Restore the handlers at the end.

    It is raised again and again until `ignore_signals`, because Python drops an exception in a destructor or
    in the callback of a weak reference, and each import has such a callback.
    """
    before = {number: signal.signal(number, _interrupt) for number in (*SIGNALS, signal.SIGALRM)}
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> None:
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
    raise KeyboardInterrupt


def ignore_signals() -> None:
    """Ignore both signals from now on, so that the clean-up completes. For use inside `interruptible`."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
