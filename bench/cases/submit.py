"""Submission of jobs over HTTP while the queue is long: sixteen clients, each one request at a time."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from typing import Any

import orjson

from api.intake.xml_writer import write_job
from bench.account import account, account_figures
from bench.cases.full_lab import contended, enable, generated_lab
from bench.cluster_fixture import BenchCluster
from bench.log_filler import LogFiller
from bench.measurements import in_milliseconds
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.raw_http import request, request_times
from bench.settling import settle, wait_for_projectors
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
    requests = _requests(cluster.token, job_bodies, sizes.batch)
    used_before, began = account(cluster), time.monotonic()
    took = asyncio.run(request_times(cluster.url, CLIENTS, sizes.seconds, itertools.cycle(requests)))
    # The last responses arrive after `sizes.seconds`.
    seconds = time.monotonic() - began
    # The account includes the work that follows a submission.
    settle(cluster)
    wait_for_projectors(cluster)
    jobs = len(took) * sizes.batch
    used = account_figures(used_before, account(cluster), jobs, "job")
    return {
        "jobs": jobs,
        "jobs_per_second": round(jobs / seconds),
        **in_milliseconds(took),
        "largest_body_bytes": max(map(len, job_bodies)),
        **used,
    }


def _requests(token: str, job_bodies: Sequence[bytes], batch: int) -> list[bytes]:
    """Return requests with one job as XML, or with a list of the texts of `batch` jobs."""
    if batch == 1:
        return [request("POST", "/jobs", token, body, "application/xml") for body in job_bodies]
    texts = [body.decode() for body in job_bodies]
    lists = [texts[first : first + batch] for first in range(0, len(texts) - batch + 1, batch)]
    return [
        request("POST", "/jobs", token, orjson.dumps({"jobs": each}), "application/json") for each in lists
    ]


def bodies(filler: LogFiller, lab: dict[str, Any], sizes: Sizes) -> list[bytes]:
    sets = generate_sets(generate_filters(lab, sizes.seed, sizes.filters), sizes.seed, (1,))
    sets = contended(sets, lab, sizes)
    return [write_job(filler.job([recipe_set]).document) for recipe_set in itertools.islice(sets, BODIES)]
