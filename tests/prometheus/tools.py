"""The programs of Prometheus, on PATH or in the folder of `.ci/prometheus`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
RULES = TOP / "deploy" / "prometheus"
UNPACKED = TOP / "build" / "prometheus" / "usr" / "bin"
REQUIRED = "LABLEDGER_TEST_PROMETHEUS"


def tool(name: str) -> str:
    """Return the path of a program; if it is missing, skip the test, or fail if the run requires it."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{UNPACKED}")
    if found is None:
        missing = f"{name} not found: install Prometheus, or run .ci/prometheus"
        if os.environ.get(REQUIRED):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


def promtool(*arguments: str, stdin: str = "") -> tuple[int, str]:
    """Run promtool; return its exit status and output."""
    done = subprocess.run(
        [tool("promtool"), *arguments],
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout
