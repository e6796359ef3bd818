"""Prestarted processes: they load their code, which takes most of a start, and wait until they are needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

_VARIABLE = "LABLEDGER_AWAITS_TURN"


def waiting_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process that waits. Its standard input must be a pipe for `give_turn`."""
    return {**environment, _VARIABLE: "yes"}


def await_turn() -> None:
    """Wait for `give_turn` of the parent, in a prestarted process. Exit if the parent has ended."""
    if os.environ.pop(_VARIABLE, None) and not sys.stdin.buffer.read(1):
        raise SystemExit(0)


def give_turn(process: subprocess.Popen[bytes]) -> bool:
    """Let a waiting process continue. Return False if it has ended."""
    assert process.stdin is not None, "it was started to wait"
    try:
        with process.stdin as pipe:
            pipe.write(b"\n")
    except BrokenPipeError:
        return False
    return process.poll() is None
