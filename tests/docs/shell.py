"""A person's terminal: consecutive commands in one shell, with a home and a folder of its own."""

from __future__ import annotations

import codecs
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path

from tests.docs.screen import Screen

COLUMNS = 100
CTRL_C = b"\x03"
END_SECONDS = 120.0
QUIET_SECONDS = 0.2
# The end of a prompt, at which a command waits for an answer; no other output ends so.
QUESTION = ": "
# Keeps variables and the folder from one command to the next.
AROUND = """
set -a
if [ -e {state} ]; then . {state}; cd "$OLD_FOLDER"; fi
. {command}
status=$?
OLD_FOLDER=$PWD
export -p >{state}
exit $status
"""


@dataclass(frozen=True)
class Printed:
    lines: list[str]
    status: int


class Shell:
    def __init__(self, folder: Path, home: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._files = home / "shell"
        self._files.mkdir()
        self._environment = {**environment, "HOME": str(home), "TERM": "xterm"}

    def run(self, command: str, *, until: str | None = None, types: Sequence[str] = ()) -> Printed:
        """Run a command; send Ctrl-C once the output contains `until`; answer its prompts with `types`."""
        text = self._files / "command"
        text.write_text(f"{command}\n", encoding="utf-8")
        around = AROUND.format(state=self._files / "state", command=text)
        pid, descriptor = pty.fork()
        if pid == 0:
            # The parent may ignore Ctrl-C, but a person's commands do not.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.chdir(self._folder)
            os.execvpe("bash", ["bash", "--norc", "-c", around], {**self._environment})
        ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        try:
            return _watched(pid, descriptor, until, list(types))
        finally:
            os.close(descriptor)


def _watched(pid: int, descriptor: int, until: str | None, types: list[str]) -> Printed:
    screen, deadline = Screen(), time.monotonic() + END_SECONDS
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while (piece := _read(descriptor)) is not None:
        screen.feed(decoder.decode(piece))
        shown = "\n".join(screen.lines())
        # Once the output pauses.
        if until and not piece and until in shown:
            os.write(descriptor, CTRL_C)
            until = None
        if types and piece and screen.last().endswith(QUESTION):
            os.write(descriptor, f"{types.pop(0)}\n".encode())
        if time.monotonic() > deadline:
            os.killpg(pid, signal.SIGKILL)
            deadline += END_SECONDS
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    # The exit status that shells report for a process ended by a signal.
    return Printed(screen.lines(), status if status >= 0 else 128 - status)


def _read(descriptor: int) -> bytes | None:
    """Return the next output: empty if there is none for a moment, None at the end."""
    if not select.select([descriptor], [], [], QUIET_SECONDS)[0]:
        return b""
    try:
        return os.read(descriptor, 65_536) or None
    except OSError:
        return None
