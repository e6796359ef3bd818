"""Jobs over HTTP behind a deep queue: sixteen clients, each one job after the other, as XML."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any

from api.intake.xml_writer import write_job
from bench.cases.full_lab import enable, made_up
from bench.cluster_fixture import Stand
from bench.filling import Filling
from bench.latencies import in_milliseconds
from bench.outcome import Figures, Sizes
from bench.progress import Told
from bench.raw_http import asked_for, request
from bench.settling import wait_for_projectors
from replay.workload.generated_queue import generate_filters, generate_sets

CLIENTS = 16
# Made once, and sent in turn.
BODIES = 2_000


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    enable(stand)
    filling = Filling(stand, told)
    filling.catch_up()
    made = bodies(filling, made_up(sizes), sizes)
    wait_for_projectors(stand)
    requests = [request("POST", "/jobs", stand.token, body, "application/xml") for body in made]
    began = time.monotonic()
    took = asyncio.run(asked_for(stand.url, CLIENTS, sizes.seconds, itertools.cycle(requests)))
    # The last answers come when the time is up.
    seconds = time.monotonic() - began
    return {
        "jobs": len(took),
        "jobs_per_second": round(len(took) / seconds),
        **in_milliseconds(took),
        "largest_body_bytes": max(map(len, made)),
    }


def bodies(filling: Filling, lab: dict[str, Any], sizes: Sizes) -> list[bytes]:
    """Jobs of one recipe each, as XML."""
    sets = generate_sets(generate_filters(lab, sizes.seed, sizes.filters), sizes.seed, (1,))
    return [write_job(filling.job([recipe_set]).document) for recipe_set in itertools.islice(sets, BODIES)]
