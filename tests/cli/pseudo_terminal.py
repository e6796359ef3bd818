"""A command in a pseudo-terminal: typed input, printed text, exit status."""

from __future__ import annotations

import os
import pty
import re
import select
import struct
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fcntl import ioctl

WAIT_SECONDS = 120.0
CTRL_C = "\x03"
# Sequences for colours and cursor movements.
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A running command; `text` is all printed text so far, with the echo of the input."""

    def __init__(self, pid: int, descriptor: int) -> None:
        self._pid, self._descriptor = pid, descriptor
        self.raw = ""

    @property
    def text(self) -> str:
        return ESCAPES.sub("", self.raw).replace("\r\n", "\n")

    def type(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def wait_for(self, said: str) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while said not in self.text:
            assert time.monotonic() < deadline, f"no {said!r} in {self.text!r}"
            assert self._read(0.1), f"ended without {said!r}: {self.text!r}"

    def end(self) -> int:
        """Return the exit status after the command has ended by itself."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self._read(0.1):
            assert time.monotonic() < deadline, f"still runs: {self.text!r}"
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def _read(self, seconds: float) -> bool:
        """Read available text, and return False at its end."""
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return True
        try:
            found = os.read(self._descriptor, 65_536)
        except OSError:
            return False
        self.raw += found.decode("utf-8", "replace")
        return bool(found)


@contextmanager
def terminal(*arguments: str, environment: Mapping[str, str], columns: int = 80) -> Iterator[Terminal]:
    """Run the command line in a terminal of this width, and kill it afterwards if it still runs."""
    pid, descriptor = pty.fork()
    if pid == 0:
        variables = {**environment, "TERM": "xterm", "PYTHONUNBUFFERED": "1"}
        variables.pop("COLUMNS", None)
        os.execve(sys.executable, [sys.executable, "-m", "cli", *arguments], variables)
    ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    made = Terminal(pid, descriptor)
    try:
        yield made
    finally:
        try:
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                os.kill(pid, 9)
                os.waitpid(pid, 0)
        except ChildProcessError:
            # It ended by itself.
            pass
        os.close(descriptor)
