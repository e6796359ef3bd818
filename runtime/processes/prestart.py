"""A process may be started before it is wanted: it reads its code, which is most of a start, and waits."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

_VARIABLE = "LABLEDGER_AWAITS_TURN"


def told_to_wait(environment: Mapping[str, str]) -> dict[str, str]:
    """For a process with a pipe as its standard input, which `give_turn` writes to."""
    return {**environment, _VARIABLE: "yes"}


def await_turn() -> None:
    """Returns at once where nobody said to wait. Ends the process when nobody is left to wait for."""
    if os.environ.pop(_VARIABLE, None) and not sys.stdin.buffer.read(1):
        raise SystemExit(0)


def give_turn(process: subprocess.Popen[bytes]) -> bool:
    """False where it is not there any more."""
    assert process.stdin is not None, "it was started to wait"
    try:
        with process.stdin as pipe:
            pipe.write(b"\n")
    except BrokenPipeError:
        return False
    return process.poll() is None
