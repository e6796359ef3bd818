"""Graceful shutdown of a worker, which closes its sockets and finishes its requests.

The worker of gunicorn would wait for connections instead of requests, also for idle ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from api.rest.serving.in_flight import InFlight
from api.rest.serving.worker import Worker

# The part of the master's grace time for the shutdown before and after waiting for requests.
RESERVED_SECONDS = 2.0
# The time to send answers that are complete.
FLUSH_SECONDS = 0.5


class GracefulWorker(Worker):
    def load_wsgi(self) -> None:
        super().load_wsgi()
        self._in_flight: InFlight = self.app.wsgi()

    def handle_exit_signal(self) -> None:
        """Start the shutdown in the event loop."""
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
