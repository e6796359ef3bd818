"""gunicorn with our ASGI worker, configured in code."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable
from typing import Any

from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]
from gunicorn.glogging import Logger  # type: ignore[import-untyped]

from api.rest.middleware.answered import LOGGER as ACCESS_LOG
from api.rest.serving.finishing import FinishingWorker
from api.rest.serving.in_flight import InFlight
from api.rest.serving.patience import Patience
from runtime.processes.parent_death import die_with
from runtime.settings import Settings


class Server(BaseApplication):  # type: ignore[misc]
    """`make` builds the application in each worker, after the fork: pools and threads do not survive one."""

    def __init__(self, settings: Settings, make: Callable[[], InFlight]) -> None:
        self._settings = settings
        self._make = make
        self.patience = Patience(settings.request_seconds, settings.keepalive_seconds)
        if settings.access_log is False:
            logging.getLogger(ACCESS_LOG).setLevel(logging.WARNING)
        super().__init__()

    def load_config(self) -> None:
        settings = self._settings
        for name, value in {
            "bind": f"{settings.host}:{settings.port}",
            "workers": settings.api_workers,
            "worker_class": FinishingWorker,
            "worker_connections": 10_000,
            # Less than `up` grants this process, so that it is the one to end its workers.
            "graceful_timeout": max(1, int(settings.stop_seconds) - 1),
            # Only that there is such a thing: how long, the worker knows from `patience`.
            "keepalive": 75,
            # Cursors and lists of subjects may be long; this is the most it takes.
            "limit_request_line": 8190,
            "timeout": 60,
            "loglevel": settings.log_level,
            "logger_class": _Logger,
            # It would open a socket in the home folder.
            "control_socket_disable": True,
            "proc_name": "labledger-serve",
            # A worker without its master would keep the port from the next one.
            "post_fork": _die_with_the_master,
        }.items():
            self.cfg.set(name, value)

    def load(self) -> InFlight:
        return self._make()


class _Logger(Logger):  # type: ignore[misc]
    """Records go where all of the process go, in the same form. Requests are logged by `Answered`."""

    def setup(self, cfg: Any) -> None:
        self.cfg = cfg
        self._access_log_enabled = False
        self.error_log.propagate = True


def _die_with_the_master(server: Any, worker: Any) -> None:
    die_with(server.pid, signal.SIGKILL)
