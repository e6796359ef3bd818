"""Tests of the memory that a process may use."""

from __future__ import annotations

import os
from pathlib import Path

from runtime.machine_memory import machine_memory


def test_machine_memory__limits_of_containers__is_the_lowest(tmp_path: Path) -> None:
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = tmp_path / "memory.max"
    assert machine_memory(limit) == installed, "no file"
    for text, memory in (("1048576\n", 1048576), ("max\n", installed), (f"{2 * installed}\n", installed)):
        limit.write_text(text, encoding="ascii")
        assert machine_memory(limit) == memory
