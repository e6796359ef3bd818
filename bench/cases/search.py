"""Searches among jobs that have ended, requested over HTTP one after the other."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import cycle
from random import Random
from typing import Any

import orjson

from bench.cluster_fixture import BenchCluster
from bench.filled_jobs import COMMON_OWNER, DAYS, RARE_SYSTEM, FilledJob, fill_jobs, filled_job
from bench.measurements import in_milliseconds
from bench.outcome import Figures, ProgressCallback, Sizes

# Minimum number of requests of each search.
MIN_ROUNDS = 5

Search = Mapping[str, Any]


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Fill the read models with `sizes.events` jobs, and search for `sizes.seconds`, each kind in turn."""
    stored = fill_jobs(cluster.owner_url, sizes.events, sizes.systems, sizes.seed, on_progress)
    cluster.start("serve")
    response_times: dict[str, list[float]] = {}
    kinds = list(_searches(filled_job(1, sizes.systems, sizes.seed)))
    dice = Random(f"search/{sizes.seed}")
    for number, kind in enumerate(kinds):
        on_progress("searches", number, len(kinds))
        samples = [dice.randint(1, sizes.events) for _ in range(1_000)]
        searches = [_searches(filled_job(n, sizes.systems, sizes.seed))[kind] for n in samples]
        response_times[kind] = _times(cluster, searches, sizes.seconds / len(kinds))
    every = in_milliseconds([seconds for times in response_times.values() for seconds in times])
    worst = {f"{kind}_p99_ms": in_milliseconds(times)["p99_ms"] for kind, times in response_times.items()}
    return {
        "jobs": sizes.events,
        "searches": sum(map(len, response_times.values())),
        "p99_ms": every["p99_ms"],
        "worst_search_p99_ms": max(worst.values()),
        **worst,
        **{f"{name}_bytes_per_job": round(size / sizes.events) for name, size in sorted(stored.items())},
    }


def _searches(job: FilledJob) -> Mapping[str, Search]:
    """Return a search of each kind that finds, in most kinds, one job."""
    dice = Random(job.job_id)
    since = datetime.now(UTC) - timedelta(days=dice.uniform(1, DAYS))
    month = {"since": since.isoformat(), "until": (since + timedelta(days=30)).isoformat()}
    cursor = base64.urlsafe_b64encode(orjson.dumps(job.job_id)).decode()
    common = {"whiteboard": job.whiteboard.split()[0], "owner": job.owner}
    return {
        "rare_text": {"whiteboard": job.whiteboard.partition(" build")[2]},
        "common_text": {"whiteboard": "kernel-"},
        "text_of_no_job": {"whiteboard": "kernel-6.99 nightly"},
        "owner": {"owner": job.owner},
        "common_owner_on_rare_system": {"owner": COMMON_OWNER, "system": RARE_SYSTEM},
        "common_owner_with_rare_result": {"owner": COMMON_OWNER, "result": "Panic"},
        "system_and_result": {"system": "system-0", "result": "Fail"},
        "task": {"task": job.task},
        "task_and_product": {"task": job.task, "product": job.product},
        "result_and_group": {"result": "Fail", "group": job.group},
        "unfinished": {"state": "running"},
        "month": month,
        "text_in_month": {**month, "whiteboard": "regression"},
        "text_of_owner": common,
        "deep_cursor": {"cursor": cursor, "result": "Warn"},
        "text_after_deep_cursor": {"cursor": cursor, **common},
        "text_as_of": {"as_of": since.isoformat(), **common},
        "two_letters": {"whiteboard": "zz"},
    }


def _times(cluster: BenchCluster, searches: list[Search], seconds: float) -> list[float]:
    """Request one page of each search in turn for a time, and return the seconds of each response."""
    took: list[float] = []
    until = time.monotonic() + seconds
    with cluster.client() as client:
        for search in cycle(searches):
            began = time.monotonic()
            if began >= until and len(took) >= MIN_ROUNDS:
                return took
            client.get("/jobs", **search)
            took.append(time.monotonic() - began)
    return took
