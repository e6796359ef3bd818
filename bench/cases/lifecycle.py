"""Recipes from submission to completed, everything over HTTP: sixteen submitters, and a simulated lab."""

from __future__ import annotations

import asyncio
import itertools

from bench.cases.full_lab import made_up
from bench.cases.submit import CLIENTS, bodies
from bench.cluster_fixture import Stand
from bench.filling import Filling
from bench.latencies import in_milliseconds
from bench.measurements import SQL, span_of
from bench.outcome import Figures, Sizes
from bench.progress import Told
from bench.raw_http import asked_for, request
from bench.settling import wait_until


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    """Jobs are submitted for a time, and then everybody waits until the last of them is completed."""
    lab = made_up(sizes)
    stand.start("serve", "scheduler", "projector")
    filling = Filling(stand, told)
    filling.lab(lab)
    stand.start_module("bench.lab", *(each["fqdn"] for each in lab["lab_controllers"]))
    made = [
        request("POST", "/jobs", stand.token, body, "application/xml") for body in bodies(filling, lab, sizes)
    ]
    before = stand.log.end()
    took = asyncio.run(asked_for(stand.url, CLIENTS, sizes.seconds, itertools.cycle(made)))
    wait_until(lambda: _completed(stand, before, len(took), told), "not all recipes are completed")
    span = span_of(stand.log, "recipe.completed", before)
    lives = [seconds for (seconds,) in stand.log.rows(SQL["lives"], (before,))]
    return {
        "submitted": len(took),
        "completed": span.subjects,
        "recipes_per_second": round(span.per_second),
        "seconds": round(span.seconds, 2),
        **{f"submission_to_completed_{name}": value for name, value in in_milliseconds(lives).items()},
    }


def _completed(stand: Stand, before: int, submitted: int, told: Told) -> bool:
    completed = span_of(stand.log, "recipe.completed", before).subjects
    told("completed", completed, submitted)
    return completed >= submitted
