"""`script/test` that is told to end waits until what it has begun has cleaned up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.__main__ import TOP

CLEANS_UP = """
import pathlib, signal, sys, time
def clean_up(*_):
    time.sleep(1)
    pathlib.Path({left!r}).unlink()
    sys.exit(2)
signal.signal(signal.{how}, clean_up)
pathlib.Path({left!r}).touch()
print("begun", flush=True)
time.sleep(60)
"""
RUN = """
import signal, sys
import tests.__main__ as run
signal.signal(signal.SIGINT, signal.default_int_handler)
run.CHECKS = {"slow": ("-c", sys.argv[1])}
sys.exit(run.main([]))
"""


@pytest.mark.parametrize(
    ("how", "tell"), [("SIGINT", os.killpg), ("SIGTERM", os.kill)], ids=["Ctrl-C", "told to end"]
)
def test_run__interrupted__waits_for_what_cleans_up(
    tmp_path: Path, how: str, tell: Callable[[int, int], None]
) -> None:
    left = tmp_path / "left"
    with subprocess.Popen(
        [sys.executable, "-c", RUN, CLEANS_UP.format(left=str(left), how=how)],
        cwd=TOP,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line == "begun\n":
                break
        assert left.exists()
        tell(process.pid, signal.Signals[how])
        process.communicate(timeout=60)
    assert process.returncode == 2
    assert not left.exists()
