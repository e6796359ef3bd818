"""Nothing shall outlive the process that runs it: the kernel tells a child that its parent has died."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with(parent: int, how: signal.Signals) -> None:
    """Called in the child: get this signal when the parent dies. Only Linux has that; elsewhere nothing."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, how)
        if os.getppid() != parent:  # it died before this call, so no signal will come
            os._exit(1)
