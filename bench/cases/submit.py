"""Submission of jobs as XML over HTTP while the queue is long: sixteen clients, each one job at a time."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any

from api.intake.xml_writer import write_job
from bench.cases.full_lab import contended, enable, generated_lab
from bench.cluster_fixture import BenchCluster
from bench.log_filler import LogFiller
from bench.measurements import in_milliseconds
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.raw_http import request, request_times
from bench.settling import wait_for_projectors
from replay.workload.generated_queue import generate_filters, generate_sets

CLIENTS = 16
# Number of distinct bodies, which are sent in turn.
BODIES = 2_000


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    enable(cluster)
    filler = LogFiller(cluster, on_progress)
    filler.catch_up()
    job_bodies = bodies(filler, generated_lab(sizes), sizes)
    wait_for_projectors(cluster)
    requests = [request("POST", "/jobs", cluster.token, body, "application/xml") for body in job_bodies]
    began = time.monotonic()
    took = asyncio.run(request_times(cluster.url, CLIENTS, sizes.seconds, itertools.cycle(requests)))
    # The last responses arrive after `sizes.seconds`.
    seconds = time.monotonic() - began
    return {
        "jobs": len(took),
        "jobs_per_second": round(len(took) / seconds),
        **in_milliseconds(took),
        "largest_body_bytes": max(map(len, job_bodies)),
    }


def bodies(filler: LogFiller, lab: dict[str, Any], sizes: Sizes) -> list[bytes]:
    sets = generate_sets(generate_filters(lab, sizes.seed, sizes.filters), sizes.seed, (1,))
    sets = contended(sets, lab, sizes)
    return [write_job(filler.job([recipe_set]).document) for recipe_set in itertools.islice(sets, BODIES)]
