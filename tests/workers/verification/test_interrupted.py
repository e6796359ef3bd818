"""Ctrl-C, which only the command itself receives: it ends its children.

A child whose command is gone ends without an error message.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.databases import TestDatabase
from tests.harness.waiting import wait_until
from workers.verification.verify import AUDIT, DECISIONS


def parts_of(pid: int) -> list[int]:
    """Return the children that have begun their work, of the three."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return [child for child, command in commands.items() if b"workers.verification.child" in command]


def test_verify__interrupted_while_its_parts_begin__reaches_it_alone_and_nothing_is_left(
    database: TestDatabase,
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "cli", "replay", "verify"],
        env={**os.environ, "LABLEDGER_DATABASE_URL": database.service_url},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    parts = wait_until(lambda: found if len(found := parts_of(process.pid)) == 3 else [])
    assert process.pid not in map(os.getpgid, parts)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    wait_until(lambda: not any(Path(f"/proc/{part}").exists() for part in parts))


@pytest.mark.parametrize("part", [DECISIONS, AUDIT])
def test_part__its_command_is_gone__ends_without_a_word(database: TestDatabase, part: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "workers.verification.child", part, "0"],
        env={**os.environ, "LABLEDGER_DATABASE_URL": database.service_url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (1, b"")
