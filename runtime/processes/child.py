"""Child processes: their start, the messages between parent and child, and their end.

A child is `python -P -m MODULE ARGUMENT...` with the database URL in its environment. It reads messages from
its standard input and writes messages to its standard output. A message is a JSON object, and bytes where
JSON would be too slow; its frame begins with the lengths of both. A child may be killed at any time. It ends
by itself after its parent, because its input ends and its next write fails.
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
# Maximum time between the end of the output of a process and its exit.
_EXIT_SECONDS: Final = 5.0
_PR_SET_PDEATHSIG: Final = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def python_module(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module, whatever packages the working directory has.

    Without `-P`, Python would import `cli` or `store` from the working directory if they are there.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


class ProcessMessage(NamedTuple):
    content: dict[str, Any]
    payload: bytes = b""


class Channel:
    """A channel of messages from and to another process, over unbuffered pipes."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self.reader = reader
        self._writer = writer

    def send(self, content: Mapping[str, Any], payload: bytes = b"") -> None:
        """Write a message. Raises BrokenPipeError if the other process has ended."""
        text = orjson.dumps(content, option=orjson.OPT_UTC_Z)
        self._write(_LENGTHS.pack(len(text), len(payload)) + text)
        self._write(payload)

    def receive(self, timeout_seconds: float | None = None) -> ProcessMessage | None:
        """Return the next message; None if the other process has ended, or has begun none in time."""
        if timeout_seconds is not None and not select([self.reader], [], [], timeout_seconds)[0]:
            return None
        head = self._read(_LENGTHS.size)
        if len(head) < _LENGTHS.size:
            return None
        text_bytes, payload_bytes = _LENGTHS.unpack(head)
        text, payload = self._read(text_bytes), self._read(payload_bytes)
        if len(text) + len(payload) < text_bytes + payload_bytes:
            return None
        return ProcessMessage(orjson.loads(text), payload)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._writer.write(rest) :]

    def _read(self, size: int) -> bytes:
        """Return `size` bytes, or fewer at the end of the input."""
        pieces: list[bytes] = []
        while size and (piece := self.reader.read(min(size, _READ_BYTES))):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)


class Child:
    """A running child process. `task` completes "the process that …" in messages.

    A reported error is raised as its own type if that is one of `errors`, otherwise as ChildFailed.
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
            python_module(module, *arguments),
            env={**os.environ, variable("database_url"): url, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            # In its own session, so that Ctrl-C reaches only the parent, which ends its children.
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
            raise self._exit_error() from None

    def receive(self) -> ProcessMessage:
        """Return the next message, or raise the error that the child reports. Raises ChildEnded."""
        message = self._channel.receive()
        if message is None:
            raise self._exit_error()
        if "error" in message.content:
            raise self._reported_error(*message.content["error"])
        return message

    def end_input(self) -> None:
        """Close the input of the child, which ends its loop over messages."""
        self._input.close()

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """Kill the child if it runs, and wait for its end. No other thread may use the child any more."""
        with self._process:
            self._process.kill()

    def _reported_error(self, name: str, message: str) -> LabledgerError:
        if name in self._errors:
            return self._errors[name](message)
        return ChildFailed(f"the process that {self._task}: {name}: {message}")

    def _exit_error(self) -> ChildEnded:
        try:
            how = describe_exit(self._process.wait(_EXIT_SECONDS))
        except subprocess.TimeoutExpired:
            how = "closed its pipes"
        return ChildEnded(f"the process that {self._task} {how} before it was done")


def run_child(work: Callable[[Channel, str], None]) -> None:
    """Call `work` with the channel to the parent and the URL of the database.

    An error is reported to the parent. If it is no LabledgerError, it is also raised, to log its traceback.
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
        # The parent has ended, so nothing can be reported. An ordinary exit would print a traceback.
        os._exit(1)


def report(parent: Channel, error: Exception) -> None:
    """Send an error, which `Child.receive` raises in the parent."""
    parent.send({"error": [type(error).__name__, str(error).strip()]})


def die_with(parent: int, by: signal.Signals) -> None:
    """Have the kernel send this process a signal when its parent dies. Does nothing except on Linux."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, by)
        if os.getppid() != parent:  # the parent died before this call, so no signal will come
            os._exit(1)


def describe_exit(status: int) -> str:
    """Return a description of the end of a process from its return code."""
    return f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"


class ChildFailed(LabledgerError):
    """A child process failed."""


class ChildEnded(ChildFailed):
    """A child process ended unexpectedly."""
