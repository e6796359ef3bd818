"""CPU times of processes, and the limit of the machine that they show."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from bench.cpu_use import cpu_figures, cpu_times, limit_met
from bench.outcome import CaseOutcome, Figures, Sizes
from bench.report import page
from cli.service.bench import show

SIZES = Sizes(10, 10, 10, None, 50, 20, 1)


def partitions(cores: float, scheduler: float) -> Figures:
    return {
        "allocations_per_second": 100,
        "reread_percent": 0.0,
        "cores_busy_percent": cores,
        "busiest_scheduler_cpu_percent": scheduler,
    }


def test_cpu_figures__one_process_works_and_its_child_waits__busiest_is_the_process() -> None:
    services = {"scheduler": os.getpid()}
    waits = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        before = cpu_times(services)
        began = time.process_time()
        while time.process_time() < began + 0.2:
            pass
        after = cpu_times(services)
        child.terminate()
    figures = cpu_figures(before, after)
    assert child.pid in after.processes["scheduler"]
    assert figures["scheduler_cpu_percent"] >= figures["busiest_scheduler_cpu_percent"] > 0
    assert figures["cores_busy_percent"] > 0


@pytest.mark.parametrize(
    ("figures", "limit"),
    [
        (partitions(cores=97, scheduler=60), "the cores, which were 97 % busy"),
        (partitions(cores=60, scheduler=98), "one scheduler process, which used 98 % of a core"),
        (partitions(cores=60, scheduler=50), "waits for the disk or for other appends"),
    ],
)
def test_limit__cpu_times_measured__report_and_command_name_it(
    figures: Figures, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = CaseOutcome("partitions", SIZES, figures)
    assert limit in "\n".join(page([outcome]))
    show(outcome)
    assert limit in " ".join(capsys.readouterr().out.split())


def test_limit__without_cpu_times__is_unknown() -> None:
    assert limit_met({"p99_ms": 20}) is None
