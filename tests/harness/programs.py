"""Python programs that a test starts, exchanges lines with, and always ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]

Program = subprocess.Popen[str]


@contextmanager
def program(module: str, *arguments: str, **environment: str) -> Iterator[Program]:
    """Run `python -m module`; kill it by its pid when the block ends, even if the process is stopped."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=TOP,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def write_line(process: Program, line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def read_line(process: Program) -> str:
    """Return the next line, or an empty text if the program has ended."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def stderr_at_exit(process: Program) -> str:
    process.terminate()
    return process.communicate(timeout=60)[1]
