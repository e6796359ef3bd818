"""An interrupted benchmark leaves neither folders nor processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench import cluster_fixture

TIMEOUT_SECONDS = 120


def begun(folder: Path) -> list[int]:
    """Return the processes whose environment names a database in this folder, once the API is among them."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            environment = (entry / "environ").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if f"LABLEDGER_DATA={folder}".encode() in environment:
            found.append(int(entry.name))
    return found


@pytest.mark.soak
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_bench__interrupted__nothing_is_left(tmp_path: Path, how: signal.Signals) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LABLEDGER_")}
    command = [sys.executable, "-m", "cli", "bench", "saturated", "--systems", "40"]
    process = subprocess.Popen(command, env={**kept, "TMPDIR": str(tmp_path)}, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not (processes := begun(tmp_path)):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    pointer = next(tmp_path.glob("labledger-bench-*/data/postgresql/cluster.path"), None)
    elsewhere = None if pointer is None else Path(pointer.read_text().strip())
    process.send_signal(how)
    deadline = time.monotonic() + TIMEOUT_SECONDS
    assert process.wait(TIMEOUT_SECONDS) != 0
    assert list(tmp_path.iterdir()) == []
    assert elsewhere is None or not elsewhere.exists()
    # A worker whose master has just ended is killed by the kernel, with some delay.
    while any(Path(f"/proc/{pid}").exists() for pid in processes):
        assert time.monotonic() < deadline
        time.sleep(0.05)


class Interrupting:
    """An object whose destructor is interrupted."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)


def test_interruptible__interrupt_in_a_destructor__is_raised_again(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda hooked: dropped.append(hooked.exc_type))
    monkeypatch.setattr(cluster_fixture, "AGAIN_SECONDS", 0.05)
    with pytest.raises(KeyboardInterrupt), cluster_fixture.interruptible():
        Interrupting()
        time.sleep(TIMEOUT_SECONDS)
    assert dropped == [KeyboardInterrupt]
