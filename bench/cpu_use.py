"""The use of the processors during a measurement, by all cores and by the processes of a benchmark."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.outcome import Figures

_TICKS = os.sysconf("SC_CLK_TCK")
# A core or a process that is this busy has nothing left to give.
BUSY_PERCENT = 90


@dataclass(frozen=True)
class CpuTimes:
    """Seconds of CPU: of all cores, of each service, and of each of its processes by pid."""

    busy: float
    services: Mapping[str, float]
    processes: Mapping[str, Mapping[int, float]]
    at: float = field(default_factory=time.monotonic)


def cpu_times(services: Mapping[str, int]) -> CpuTimes:
    """Return the CPU times until now of services, given by the pid of their first process."""
    processes = {name: {pid: _seconds(pid) for pid in process_tree(pid)} for name, pid in services.items()}
    sums = {name: sum(map(sum, seconds.values())) for name, seconds in processes.items()}
    alone = {name: {pid: own for pid, (own, _) in each.items()} for name, each in processes.items()}
    return CpuTimes(_busy_seconds(), sums, alone)


def cpu_figures(before: CpuTimes, after: CpuTimes) -> Figures:
    """Return percentages of one core, except `cores_busy_percent`, which is of all cores together."""
    percent = 100 / (after.at - before.at)
    cores = os.cpu_count() or 1
    used = {name: seconds - before.services[name] for name, seconds in after.services.items()}
    busy = after.busy - before.busy
    schedulers = after.processes["scheduler"].items()
    busiest = max(seconds - before.processes["scheduler"].get(pid, 0.0) for pid, seconds in schedulers)
    figures = {
        "cores_busy_percent": busy / cores,
        **{f"{name}_cpu_percent": seconds for name, seconds in used.items()},
        "busiest_scheduler_cpu_percent": busiest,
        # Those of the benchmark itself, and whatever else the machine runs.
        "others_cpu_percent": max(0.0, busy - sum(used.values())),
    }
    return {name: round(seconds * percent) for name, seconds in figures.items()}


def limit_met(figures: Figures) -> str | None:
    """Return which limit of the machine a measurement met, None if it has no CPU times."""
    if "cores_busy_percent" not in figures:
        return None
    cores, scheduler = figures["cores_busy_percent"], figures["busiest_scheduler_cpu_percent"]
    if cores >= BUSY_PERCENT:
        return f"the cores, which were {cores:g} % busy"
    if scheduler >= BUSY_PERCENT:
        return f"one scheduler process, which used {scheduler:g} % of a core"
    return f"waits for the disk or for other appends, as the cores were only {cores:g} % busy"


def _busy_seconds() -> float:
    """Return the seconds in which the cores were not idle and did not wait for the disk."""
    first = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0]
    user, nice, system, _, _, irq, softirq, steal = map(int, first.split()[1:9])
    return (user + nice + system + irq + softirq + steal) / _TICKS


def process_tree(pid: int) -> list[int]:
    """Return a process and all its descendants. One that ends meanwhile has none."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    except OSError:
        return [pid]
    return [pid, *(each for child in children for each in process_tree(int(child)))]


def _seconds(pid: int) -> tuple[float, float]:
    """Return the seconds of a process, and of its children that have ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return 0.0, 0.0
    # The name of the program, in brackets, may have spaces.
    user, system, ended_user, ended_system = map(int, stat.rpartition(")")[2].split()[11:15])
    return (user + system) / _TICKS, (ended_user + ended_system) / _TICKS
