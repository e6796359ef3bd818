"""A run of pytest with planted tests, in a process of its own, whose records are not those of this run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.harness.locks.installing import FOLDER
from tests.language import TOP

CONFTEST = """
from tests.harness.locks.plugin import LockRecords

def pytest_configure(config):
    config.pluginmanager.register(LockRecords(config), "lock-records")
"""
HEAD = """
import asyncio, os, subprocess, sys, threading
import psycopg
from runtime.locks import LockClass
from store.datastore import connect
"""
URL = "PLANTED_DATABASE_URL"


@dataclass(frozen=True)
class PlantedRun:
    status: int
    output: str


def planted_run(folder: Path, *files: str, arguments: tuple[str, ...] = (), url: str = "") -> PlantedRun:
    """Run each text as a file of tests, after `HEAD`."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(CONFTEST)
    for number, text in enumerate(files, start=1):
        (folder / f"test_{number}.py").write_text(HEAD + text)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", FOLDER))}
    environment = {**kept, "PYTHONPATH": str(TOP), URL: url}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return PlantedRun(done.returncode, done.stdout + done.stderr)
