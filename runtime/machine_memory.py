"""The memory that this process may use."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

# The limit of a container, a number of bytes or `max`.
CGROUP_MEMORY = Path("/sys/fs/cgroup/memory.max")


def machine_memory(cgroup_limit: Path = CGROUP_MEMORY) -> int:
    """Return the bytes of memory of the machine, or of the container if that has less."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):
        return min(installed, int(cgroup_limit.read_text(encoding="ascii")))
    return installed
