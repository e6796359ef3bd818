"""The servers in use by a test run: each started when first asked for, all stopped at the end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing

from tests.harness.databases import Databases
from tests.harness.servers import NoSecondServer, own_server, second_server

SERVERS: dict[str, Callable[[], AbstractContextManager[str]]] = {
    "embedded": own_server,
    "system": second_server,
}


class ServerPool:
    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._started: dict[str, Databases | NoSecondServer] = {}

    def databases(self, server: str) -> Databases:
        """Raises `NoSecondServer` where the machine has none."""
        if server not in self._started:
            self._started[server] = self._start(server)
        answer = self._started[server]
        if isinstance(answer, NoSecondServer):
            raise answer
        return answer

    def _start(self, server: str) -> Databases | NoSecondServer:
        try:
            url = self._stack.enter_context(SERVERS[server]())
        except NoSecondServer as none:
            return none
        return self._stack.enter_context(closing(Databases(url)))
