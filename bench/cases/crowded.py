"""Grants while another program keeps a core busy and four readers read, with the priorities and without them.

The priorities are those of the processes: the projector has a lower one than the scheduler and the serving
process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.cases.full_lab import enable
from bench.cases.query import reading
from bench.cluster_fixture import BenchCluster
from bench.completions import grant_times, running
from bench.cpu_use import process_tree
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import wait_for_projectors

PHASES = 3
BUSY_PROGRAM = "while True: pass"


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """End recipes at a rate in each of three phases, of equal length: alone, crowded, without priorities."""
    enable(cluster)
    wanted = int(sizes.rate * sizes.seconds / PHASES)
    recipes = iter([recipe_id for recipe_id, _ in running(cluster)])

    def phase(name: str) -> Figures:
        recipe_ids = [next(recipes) for _ in range(wanted)]
        grants = grant_times(cluster, recipe_ids, sizes.rate, on_progress)
        behind = round(wait_for_projectors(cluster), 2)
        figures = {f"{name}_{figure}": value for figure, value in grants.items()}
        return {**figures, f"{name}_projectors_behind_seconds": behind}

    return _phases(cluster, phase)


def _phases(cluster: BenchCluster, phase: Callable[[str], Figures]) -> Figures:
    alone = phase("alone")
    with busy_core(), reading(cluster):
        crowded = phase("crowded")
        # Only a privileged process may raise the priority of another one.
        equal = phase("equal_priorities") if equalise_priorities(cluster) else {}
    return {**alone, **crowded, **equal}


@contextmanager
def busy_core() -> Iterator[None]:
    """Have another process compute within the context."""
    with subprocess.Popen([sys.executable, "-c", BUSY_PROGRAM], start_new_session=True) as process:
        try:
            yield
        finally:
            process.kill()


def equalise_priorities(cluster: BenchCluster) -> bool:
    """Give the threads of the projector the priority of the others; return False without the privilege."""
    for pid in process_tree(cluster.pids()["projector"]):
        # A process or thread that has ended needs none.
        with suppress(FileNotFoundError, ProcessLookupError):
            try:
                for thread in Path(f"/proc/{pid}/task").iterdir():
                    os.setpriority(os.PRIO_PROCESS, int(thread.name), 0)
                Path(f"/proc/{pid}/autogroup").write_text("0", encoding="ascii")
            except (PermissionError, BlockingIOError):
                return False
    return True
