"""A TCP relay that can stop passing on bytes, delay them, or cut connections."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

CHUNK_BYTES = 65_536


class Held:
    """A message that the relay holds back, with all following bytes of its connection."""

    def __init__(self, *marks: bytes) -> None:
        self._marks = marks
        self.caught = threading.Event()
        self._released = threading.Event()

    def release(self) -> None:
        """Release the message; before it was caught, cancel the hold."""
        self._released.set()

    def wait_if_marked(self, data: bytes) -> None:
        """Block the thread that passes on the data until the message is released."""
        is_it = all(mark in data for mark in self._marks)
        if is_it and not self.caught.is_set() and not self._released.is_set():
            self.caught.set()
            self._released.wait()


class Relay:
    """Listens on a port of 127.0.0.1 and passes on bytes to a server; each connection has two threads.

    The kernel acknowledges bytes that are held here: to both ends a stalled connection looks alive.
    """

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        """Listen; `connect` opens a connection to the server."""
        self._connect = connect
        self._passing = threading.Event()
        self._passing.set()
        self._delay_seconds = 0.0
        self._held: Held | None = None
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def stall(self) -> None:
        """Stop passing on bytes in both directions; a new connection receives nothing."""
        self._passing.clear()

    def delay(self, seconds: float) -> None:
        """Delay every message by this time."""
        self._delay_seconds = seconds

    def hold(self, *marks: bytes) -> Held:
        """Hold back the first message of a client that contains all of these marks, until it is released."""
        self._held = Held(*marks)
        return self._held

    def heal(self) -> None:
        self._delay_seconds = 0.0
        self._passing.set()

    def cut(self) -> int:
        """End all connections at once; return their number."""
        pairs = list(self._pairs.items())
        for pair in pairs:
            for side in pair:
                _hang_up(side)
        return len(pairs)

    def close(self) -> None:
        self._listener.close()
        if self._held is not None:
            self._held.release()
        self.heal()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        try:
            server = self._connect()
        except OSError:
            client.close()
            return
        server.settimeout(None)
        self._pairs[client] = server
        back = threading.Thread(target=self._pump, args=(server, client, False), daemon=True)
        back.start()
        self._pump(client, server, True)
        back.join()
        self._pairs.pop(client, None)
        client.close()
        server.close()

    def _pump(self, source: socket.socket, sink: socket.socket, from_client: bool) -> None:
        """Pass on bytes until one side ends the connection, then end both: none here stays half open."""
        with suppress(OSError):
            while data := source.recv(CHUNK_BYTES):
                if self._delay_seconds:
                    time.sleep(self._delay_seconds)
                if from_client and self._held is not None:
                    self._held.wait_if_marked(data)
                self._passing.wait()
                sink.sendall(data)
        for side in (source, sink):
            _hang_up(side)


def _hang_up(side: socket.socket) -> None:
    with suppress(OSError):
        side.shutdown(socket.SHUT_RDWR)
