"""A TCP proxy on loopback for PostgreSQL, which can delay a request and lose an answer."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from tests.harness.server_socket import server_socket

# The server's ReadyForQuery outside of a transaction: the request is committed.
IDLE = b"Z\x00\x00\x00\x05I"


class Proxy:
    def __init__(self, url: str) -> None:
        self._url = url
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._held_word: bytes | None = None
        self.held = threading.Event()
        self._released = threading.Event()
        self._word_to_lose: bytes | None = None
        self.lost = threading.Event()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def hold(self, word: bytes) -> None:
        """Delay requests with this word until `release`."""
        self._held_word = word

    def release(self) -> None:
        self._released.set()

    def lose_answer_to(self, word: bytes) -> None:
        """Close the connection of a request with this word instead of passing on the answer."""
        self._word_to_lose = word

    def close(self) -> None:
        self.release()
        # A shutdown wakes the thread of the listener; a close may not.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = server_socket(self._url)
                thread = threading.Thread(target=self._pass, args=(client, server), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pass(self, client: socket.socket, server: socket.socket) -> None:
        losing = False
        with client, server, suppress(OSError):
            while True:
                readable, _, _ = select.select([client, server], [], [])
                if client in readable:
                    asked = _received(client)
                    losing = losing or self._is_to_be_lost(asked)
                    server.sendall(self._kept_back(asked))
                if server in readable:
                    answer = _received(server)
                    if losing and answer.endswith(IDLE):
                        self.lost.set()
                        return
                    client.sendall(answer)

    def _kept_back(self, asked: bytes) -> bytes:
        if self._held_word and self._held_word in asked:
            self.held.set()
            self._released.wait(30)
        return asked

    def _is_to_be_lost(self, asked: bytes) -> bool:
        """Return whether to lose the answer, once only: a repetition gets one."""
        if self._word_to_lose is None or self._word_to_lose not in asked:
            return False
        self._word_to_lose = None
        return True


def _received(peer: socket.socket) -> bytes:
    data = peer.recv(65536)
    if not data:
        raise ConnectionAbortedError
    return data


@contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    with closing(Proxy(url)) as made:
        yield made
