"""Recipes from submission to completion, all over HTTP: sixteen submitters and a simulated lab."""

from __future__ import annotations

import asyncio
import itertools

from bench.account import account, account_figures
from bench.cases.full_lab import generated_lab
from bench.cases.submit import CLIENTS, bodies
from bench.cluster_fixture import BenchCluster
from bench.log_filler import LogFiller
from bench.measurements import SQL, in_milliseconds, span_of
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.raw_http import request, request_times
from bench.settling import wait_until


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Submit jobs for a time, and then wait until the last of them is completed."""
    lab = generated_lab(sizes)
    cluster.start("serve", "scheduler", "projector")
    filler = LogFiller(cluster, on_progress)
    filler.lab(lab)
    cluster.start_module("bench.lab", *(controller["fqdn"] for controller in lab["lab_controllers"]))
    requests = [
        request("POST", "/jobs", cluster.token, body, "application/xml")
        for body in bodies(filler, lab, sizes)
    ]
    before, used_before = cluster.log.end(), account(cluster)
    took = asyncio.run(request_times(cluster.url, CLIENTS, sizes.seconds, itertools.cycle(requests)))
    wait_until(lambda: _completed(cluster, before, len(took), on_progress), "not all recipes are completed")
    span = span_of(cluster.log, "recipe.completed", before)
    used = account_figures(used_before, account(cluster), len(took), "recipe")
    lives = [seconds for (seconds,) in cluster.log.rows(SQL["lives"], (before,))]
    return {
        "submitted": len(took),
        "completed": span.subjects,
        "recipes_per_second": round(span.per_second),
        "seconds": round(span.seconds, 2),
        **{f"submission_to_completed_{name}": value for name, value in in_milliseconds(lives).items()},
        **used,
    }


def _completed(cluster: BenchCluster, before: int, submitted: int, on_progress: ProgressCallback) -> bool:
    completed = span_of(cluster.log, "recipe.completed", before).subjects
    on_progress("completed", completed, submitted)
    return completed >= submitted
