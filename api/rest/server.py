"""gunicorn with its ASGI workers, configured in code."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]

from api.processes.parent_death import die_with
from api.rest.worker import Worker
from api.settings import Settings


class Server(BaseApplication):  # type: ignore[misc]
    """`make` builds the application in each worker, after the fork: pools and threads do not survive one."""

    def __init__(self, settings: Settings, make: Callable[[], Any]) -> None:
        self._settings = settings
        self._make = make
        super().__init__()

    def load_config(self) -> None:
        settings = self._settings
        for name, value in {
            "bind": f"{settings.host}:{settings.port}",
            "workers": settings.api_workers,
            "worker_class": Worker,
            "worker_connections": 10_000,
            "graceful_timeout": 2,
            "keepalive": 75,
            # Cursors and lists of subjects may be long; this is the most it takes.
            "limit_request_line": 8190,
            "timeout": 60,
            "loglevel": settings.log_level,
            # It would open a socket in the home folder.
            "control_socket_disable": True,
            "proc_name": "labledger-serve",
            # A worker without its master would keep the port from the next one.
            "post_fork": _die_with_the_master,
        }.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return self._make()


def _die_with_the_master(server: Any, worker: Any) -> None:
    die_with(server.pid, signal.SIGKILL)
