"""The CPU priority of a process."""

from __future__ import annotations

import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

AUTOGROUP: Final = Path("/proc/self/autogroup")
ATTEMPTS: Final = 20
RETRY_SECONDS: Final = 0.1

logger = logging.getLogger(__name__)


def lower_priority(niceness: int) -> None:
    """Lower the CPU priority of this process by a niceness.

    Linux may schedule the processes of each session as one group (autogroup), and the niceness of a process
    then takes effect only within its session. If this process leads its session, the niceness of the group is
    set, too.
    """
    os.nice(niceness)
    if os.getsid(0) == os.getpid():
        # A kernel without such groups has no file.
        with suppress(FileNotFoundError, PermissionError):
            _set_group(niceness)


def _set_group(niceness: int) -> None:
    for _ in range(ATTEMPTS):
        try:
            AUTOGROUP.write_text(str(niceness), encoding="ascii")
        except BlockingIOError:
            # All unprivileged processes together may set ten groups a second.
            time.sleep(RETRY_SECONDS)
        else:
            return
    logger.warning("the niceness of this session is not set: too many processes set theirs")
