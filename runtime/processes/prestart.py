"""Prestarted processes: they load their code, which takes most of a start, and wait for their turn."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

_VARIABLE = "LABLEDGER_AWAITS_TURN"


def waiting_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process that waits. Its standard input is a pipe for `give_turn`."""
    return {**environment, _VARIABLE: "yes"}


def await_turn() -> None:
    """Wait for the turn of this process, if it was prestarted; exit if its parent ended."""
    if os.environ.pop(_VARIABLE, None) and not sys.stdin.buffer.read(1):
        raise SystemExit(0)


def give_turn(process: subprocess.Popen[bytes]) -> bool:
    """Let a waiting process go on; return False if it has ended."""
    assert process.stdin is not None, "it was started to wait"
    try:
        with process.stdin as pipe:
            pipe.write(b"\n")
    except BrokenPipeError:
        return False
    return process.poll() is None
