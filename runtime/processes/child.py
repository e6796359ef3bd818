"""Child processes: their start, the messages between parent and child, and their end.

A child is `python -m MODULE ARGUMENT...` with the database URL in its environment. It reads messages from its
standard input and writes messages to its standard output. A message is a JSON object, and bytes where JSON is
too slow; its frame begins with the lengths of both. A child may be killed at any time. It ends by itself when
its parent is gone: then its input ends, and its next message cannot be written.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from io import FileIO
from select import select
from struct import Struct
from typing import IO, Any, Final, NamedTuple

import orjson

from domain.errors import LabledgerError
from runtime.settings import variable

_LENGTHS: Final = Struct(">IQ")
_READ_BYTES: Final = 65_536
# The output of a process ends a moment before the process does.
_EXIT_SECONDS: Final = 5.0
_PR_SET_PDEATHSIG: Final = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class Message(NamedTuple):
    content: dict[str, Any]
    payload: bytes = b""


class Channel:
    """Messages of this process to another one, and back, over unbuffered pipes."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self.reader = reader
        self._writer = writer

    def send(self, content: Mapping[str, Any], payload: bytes = b"") -> None:
        """Write a message. Raises BrokenPipeError if the other process is gone."""
        text = orjson.dumps(content, option=orjson.OPT_UTC_Z)
        self._write(_LENGTHS.pack(len(text), len(payload)) + text)
        self._write(payload)

    def receive(self, timeout_seconds: float | None = None) -> Message | None:
        """Return the next message; None if the other process ended, or began none in time."""
        if timeout_seconds is not None and not select([self.reader], [], [], timeout_seconds)[0]:
            return None
        head = self._read(_LENGTHS.size)
        if len(head) < _LENGTHS.size:
            return None
        text_bytes, payload_bytes = _LENGTHS.unpack(head)
        text, payload = self._read(text_bytes), self._read(payload_bytes)
        if len(text) + len(payload) < text_bytes + payload_bytes:
            return None
        return Message(orjson.loads(text), payload)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._writer.write(rest) :]

    def _read(self, size: int) -> bytes:
        """Return that many bytes, or fewer if there are no more."""
        pieces: list[bytes] = []
        while size and (piece := self.reader.read(min(size, _READ_BYTES))):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)


class Child:
    """A running child process. `task` completes "the process that …" in messages.

    Errors of the given types that the child reports are raised as what they are, any other as ChildFailed.
    """

    def __init__(
        self,
        task: str,
        url: str,
        module: str,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        errors: Iterable[type[LabledgerError]] = (),
    ) -> None:
        self._task = task
        self._errors = {each.__name__: each for each in errors}
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env={**os.environ, variable("database_url"): url, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            # Ctrl-C reaches only the parent, which ends its children.
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None, "both are pipes"
        self._input = self._process.stdin
        self._channel = Channel(self._process.stdout, self._input)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def fileno(self) -> int:
        """Return the descriptor that is readable when `receive` would not wait for the child."""
        return self._channel.reader.fileno()

    def send(self, content: Mapping[str, Any], payload: bytes = b"") -> None:
        """Send a message. Raises ChildEnded."""
        try:
            self._channel.send(content, payload)
        except BrokenPipeError:
            raise self._ended() from None

    def receive(self) -> Message:
        """Return the next message, or raise the error that the child reports. Raises ChildEnded."""
        message = self._channel.receive()
        if message is None:
            raise self._ended()
        if "error" in message.content:
            raise self._reported(*message.content["error"])
        return message

    def end_input(self) -> None:
        """Tell the child that there will be no more messages."""
        self._input.close()

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """Kill the child if it runs, and wait for its end. No other thread may use the child any more."""
        with self._process:
            self._process.kill()

    def _reported(self, name: str, message: str) -> LabledgerError:
        if name in self._errors:
            return self._errors[name](message)
        return ChildFailed(f"the process that {self._task}: {name}: {message}")

    def _ended(self) -> ChildEnded:
        try:
            how = end_of(self._process.wait(_EXIT_SECONDS))
        except subprocess.TimeoutExpired:
            how = "closed its pipes"
        return ChildEnded(f"the process that {self._task} {how} before it was done")


def run_child(work: Callable[[Channel, str], None]) -> None:
    """Call `work` with the channel to the parent and the URL of the database.

    An error is reported to the parent. One that is no LabledgerError is raised, too, for its traceback.
    """
    parent = Channel(FileIO(0, "rb", closefd=False), FileIO(1, "wb", closefd=False))
    try:
        try:
            work(parent, os.environ[variable("database_url")])
        except BrokenPipeError:
            raise
        except Exception as error:
            report(parent, error)
            if not isinstance(error, LabledgerError):
                raise
    except BrokenPipeError:
        # The parent is gone, and there is nobody to report this to. An ordinary end would print a traceback.
        os._exit(1)


def report(parent: Channel, error: Exception) -> None:
    """Send an error, which the parent raises when it receives."""
    parent.send({"error": [type(error).__name__, str(error).strip()]})


def die_with(parent: int, how: signal.Signals) -> None:
    """Have the kernel send this process a signal when its parent dies. Does nothing except on Linux."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, how)
        if os.getppid() != parent:  # it died before this call, so no signal will come
            os._exit(1)


def end_of(status: int) -> str:
    """Return how a process ended, by its return code."""
    return f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"


class ChildFailed(LabledgerError):
    """A child process failed."""


class ChildEnded(ChildFailed):
    """A child process ended unexpectedly."""
