"""The servers of a test run: each starts at its first use, all stop at the end."""

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
        """Return the databases of a server; raise `NoSecondServer` if the machine has none."""
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
