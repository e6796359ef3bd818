"""Check, before a case begins, that the machine has enough memory and disk for its sizes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.outcome import Sizes
from domain.errors import LabledgerError
from runtime.embedded.home import FALLBACK_HOMES

# Memory and disk of the processes and PostgreSQL without any load.
BASE_MB = 800
# Memory of one queued recipe in scheduler and benchmark, and its disk space in log and read models.
MEMORY_KB_OF_A_RECIPE = 12
DISK_KB_OF_A_RECIPE = 12
DISK_KB_OF_AN_EVENT = 1.5
MEMORY_KB_OF_A_SYSTEM = 40


def require_room(sizes: Sizes) -> None:
    """Raise NoRoom if there is not enough memory or disk space."""
    shortages = [*_memory_shortage(sizes), *_disk_shortage(sizes)]
    if shortages:
        raise NoRoom(f"{'; '.join(shortages)}. Smaller sizes need less: --queued, --systems, --events")


def _memory_shortage(sizes: Sizes) -> Iterator[str]:
    needed = BASE_MB + (sizes.queued * MEMORY_KB_OF_A_RECIPE + sizes.systems * MEMORY_KB_OF_A_SYSTEM) / 1024
    available = _available_mb()
    if available is not None and available < needed:
        yield f"about {needed:,.0f} MB of memory are needed, {available:,.0f} MB are available"


def _disk_shortage(sizes: Sizes) -> Iterator[str]:
    kilobytes = max(sizes.queued * DISK_KB_OF_A_RECIPE, sizes.events * DISK_KB_OF_AN_EVENT)
    needed = BASE_MB + kilobytes / 1024
    for folder in _database_folders():
        free = shutil.disk_usage(folder).free / 1024**2
        if free < needed:
            yield f"about {needed:,.0f} MB of disk are needed, {free:,.0f} MB are free in {folder}"


def _database_folders() -> list[Path]:
    """Return the folders in which the database of the benchmark may be created."""
    folders = {
        Path(tempfile.gettempdir()),
        next(p for p in (FALLBACK_HOMES, *FALLBACK_HOMES.parents) if p.exists()),
    }
    return sorted(folders)


def _available_mb() -> float | None:
    """Return the available memory, None if the kernel does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("MemAvailable:")), None)


class NoRoom(LabledgerError):
    """The machine does not have enough memory or disk for these sizes."""
