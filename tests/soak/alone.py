"""`python -m tests.soak.alone`: how soon one `labledger up` with little to do is ready after each kill -9."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from signal import SIGKILL
from statistics import median

from api.embedded.cluster import Cluster
from api.processes.supervisor import SETTLED_SECONDS
from tests.harness.waiting import until
from tests.line.up import up
from tests.soak.machine import DatabaseMachine, send

KILLED = ("scheduler", "worker", "serve", "projector", "postmaster")
TIMES = 3


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="labledger-alone-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        data = folder / "data"
        try:
            with up(data, "--demo") as running:
                url = json.loads((data / "connection.json").read_text("utf-8"))["url"]
                _measure(DatabaseMachine("alone", running, url))
        finally:
            Cluster(data / "postgresql").stop()


def _measure(machine: DatabaseMachine) -> None:
    for role in KILLED:
        seconds = []
        for _ in range(TIMES):
            # Whoever has just been started again is made to wait by the supervisor.
            time.sleep(SETTLED_SECONDS + 1)
            seconds.append(_back(machine, role))
        print(f"{role:<12} median {median(seconds):.2f} s, most {max(seconds):.2f} s", flush=True)


def _back(machine: DatabaseMachine, role: str) -> float:
    def alive() -> int | None:
        return machine.postmaster if role == "postmaster" else machine.pid(role)

    gone = until(alive, f"a {role}")
    killed_at = time.monotonic()
    send(gone, SIGKILL)
    until(
        lambda: alive() not in (None, gone) and machine.is_whole() and machine.ready(), f"{role} to be back"
    )
    return time.monotonic() - killed_at


if __name__ == "__main__":
    main()
