"""The gunicorn server with its settings, and the graceful shutdown of its workers."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable
from typing import Any

from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]
from gunicorn.glogging import Logger  # type: ignore[import-untyped]

from api.rest.middleware.access_log import LOGGER as ACCESS_LOG
from api.rest.serving.in_flight import InFlight
from api.rest.serving.protocol import ClientTimeouts
from api.rest.serving.worker import Worker
from runtime.processes.child import die_with
from runtime.settings import Settings

# The part of the master's grace time for the shutdown before and after waiting for requests.
RESERVED_SECONDS = 2.0
# The time to send answers that are complete.
FLUSH_SECONDS = 0.5


class GracefulWorker(Worker):
    """Finish the requests at shutdown; gunicorn would wait for connections instead, also idle ones."""

    def load_wsgi(self) -> None:
        super().load_wsgi()
        self._in_flight: InFlight = self.app.wsgi()

    def handle_exit_signal(self) -> None:
        super().handle_exit_signal()
        self._in_flight.begin_shutdown()

    async def _shutdown(self) -> None:
        if self._quick_shutdown:
            await super()._shutdown()
            return
        for server in self.servers:
            server.close()
        timeout = max(FLUSH_SECONDS, self.cfg.graceful_timeout - RESERVED_SECONDS)
        await self._wait_until(lambda: not self._in_flight.requests, timeout)
        await self._wait_until(lambda: not self.nr_conns, FLUSH_SECONDS)
        if self._in_flight.requests:
            self.log.warning("aborting %d requests", self._in_flight.requests)
        if self.lifespan is not None:
            await self.lifespan.shutdown()

    async def _wait_until(self, done: Callable[[], bool], seconds: float) -> None:
        deadline = self.loop.time() + seconds
        while not done() and self.loop.time() < deadline and not self._quick_shutdown:
            await asyncio.sleep(0.02)


class HttpServer(BaseApplication):  # type: ignore[misc]
    """A gunicorn server. `make` builds the application in each worker, after the fork.

    `on_exit` is called with the process id of each worker that has ended.
    """

    def __init__(
        self,
        settings: Settings,
        make: Callable[[], InFlight],
        on_exit: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._settings = settings
        self._make = make
        self._on_exit = on_exit
        self.timeouts = ClientTimeouts(settings.request_seconds, settings.keepalive_seconds)
        if settings.access_log is False:
            logging.getLogger(ACCESS_LOG).setLevel(logging.WARNING)
        super().__init__()

    def load_config(self) -> None:
        settings = self._settings
        for name, value in {
            "bind": f"{settings.host}:{settings.port}",
            "workers": settings.api_workers,
            "worker_class": GracefulWorker,
            "worker_connections": 10_000,
            # Less than the grace time of `up`, so that this process ends its workers itself.
            "graceful_timeout": max(1, int(settings.stop_seconds) - 1),
            # Enables keep-alive; the worker takes the timeout from `timeouts`.
            "keepalive": 75,
            # The maximum of gunicorn: cursors and lists of subjects may be long.
            "limit_request_line": 8190,
            "timeout": 60,
            "loglevel": settings.log_level,
            "logger_class": _Logger,
            # The control socket would be in the home folder.
            "control_socket_disable": True,
            "proc_name": "labledger-serve",
            # A worker without its master would keep the port of the next server.
            "post_fork": _die_with_the_master,
            "child_exit": lambda server, worker: self._on_exit(worker.pid),
        }.items():
            self.cfg.set(name, value)

    def load(self) -> InFlight:
        return self._make()


class _Logger(Logger):  # type: ignore[misc]
    """Logger of gunicorn that uses the logging of the process. `AccessLog` logs the requests."""

    def setup(self, cfg: Any) -> None:
        self.cfg = cfg
        self._access_log_enabled = False
        self.error_log.propagate = True


def _die_with_the_master(server: Any, worker: Any) -> None:
    die_with(server.pid, signal.SIGKILL)
