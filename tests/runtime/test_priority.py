"""The priority of a process is lowered within its session, and that of its session beside others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

AUTOGROUP = Path("/proc/self/autogroup")
PROGRAM = """
import os
from pathlib import Path
from runtime.processes.priority import AUTOGROUP, lower_priority
lower_priority(7)
print(os.getpriority(os.PRIO_PROCESS, 0))
print(AUTOGROUP.read_text() if AUTOGROUP.exists() else "no groups")
"""


def lowered(*, own_session: bool) -> list[str]:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=30, start_new_session=own_session
    )
    return done.stdout.splitlines()


def test_lower_priority__own_session__of_process_and_session() -> None:
    priority, group, *_ = lowered(own_session=True)
    assert priority == str(min(19, os.getpriority(os.PRIO_PROCESS, 0) + 7))
    if not AUTOGROUP.exists():
        pytest.skip("this kernel has no autogroups")
    assert group.endswith("nice 7")


def test_lower_priority__session_of_another__of_the_process_alone() -> None:
    priority, group, *_ = lowered(own_session=False)
    assert priority == str(min(19, os.getpriority(os.PRIO_PROCESS, 0) + 7))
    assert not group.endswith("nice 7")
