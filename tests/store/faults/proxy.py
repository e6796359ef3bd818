"""A TCP proxy on loopback before PostgreSQL, which can hold back a request and lose an answer."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from tests.harness.server_socket import server_socket

# The server's ReadyForQuery outside of a transaction: what was asked is committed.
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
        """Keep back the requests that have this word in them, until `release`."""
        self._held_word = word

    def release(self) -> None:
        self._released.set()

    def lose_answer_to(self, word: bytes) -> None:
        """Cut the connection that asks something with this word instead of passing on that it is done."""
        self._word_to_lose = word

    def close(self) -> None:
        self.release()
        # A shut down listener wakes its thread; a closed one need not.
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
        """Once: who asks again is heard."""
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
