"""The programs of Prometheus: on PATH, or where `.ci/prometheus` puts them."""

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
    """The path of a program. Without it the test is skipped, or fails where it is required."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{UNPACKED}")
    if found is None:
        missing = f"there is no {name}: install Prometheus, or run .ci/prometheus"
        if os.environ.get(REQUIRED):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


def promtool(*arguments: str, told: str = "") -> tuple[int, str]:
    """Its exit status, and all that it printed."""
    done = subprocess.run(
        [tool("promtool"), *arguments],
        input=told,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout
