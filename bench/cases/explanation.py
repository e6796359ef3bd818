"""Explanations of waiting and of placed recipes, requested over HTTP one after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from random import Random

from bench.cases.full_lab import enable
from bench.cluster_fixture import BenchCluster, peak_mb
from bench.completions import endings, running
from bench.measurements import SQL, in_milliseconds
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import settle

CHILD_MODULE = b"workers.explaining.child"
# Minimum number of explanations, however long they take.
MIN_EXPLANATIONS = 5


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Measure first while nothing happens, and then while recipes end. All systems are busy."""
    enable(cluster)
    chance = Random(f"explanation/{sizes.seed}")
    waiting = [recipe_id for (recipe_id,) in cluster.log.rows(SQL["unplaced"], ())]
    if not waiting:
        raise ValueError("no recipe waits, so there is nothing to explain")
    placed = [recipe_id for recipe_id, _ in running(cluster)]
    chance.shuffle(waiting)
    chance.shuffle(placed)
    on_progress("explanations", 0, 4)
    (first,) = _response_times(cluster, waiting[:1], 0.0, minimum=1)
    on_progress("explanations", 1, 4)
    quiet = _response_times(cluster, waiting, sizes.seconds)
    on_progress("explanations", 2, 4)
    with endings(cluster, sizes.rate):
        busy = _response_times(cluster, waiting, sizes.seconds)
    settle(cluster)
    on_progress("explanations", 3, 4)
    granted = _response_times(cluster, placed, sizes.seconds)
    on_progress("explanations", 4, 4)
    return {
        "first_answer_seconds": round(first, 2),
        "explained": len(quiet),
        **in_milliseconds(quiet),
        **{f"while_recipes_end_{name}": value for name, value in in_milliseconds(busy).items()},
        "placed_explained": len(granted),
        **{f"placed_{name}": value for name, value in in_milliseconds(granted).items()},
        "explainer_peak_mb": round(max(map(peak_mb, _explainer_pids(cluster)))),
    }


def _response_times(
    cluster: BenchCluster, recipe_ids: Sequence[int], seconds: float, minimum: int = MIN_EXPLANATIONS
) -> list[float]:
    """Request explanations for a time, at least `minimum`, and return the seconds of each response."""
    until, took = time.monotonic() + seconds, list[float]()
    recipes = cycle(recipe_ids)
    with cluster.client() as client:
        while (began := time.monotonic()) < until or len(took) < minimum:
            client.get(f"/recipes/{next(recipes)}/explanation")
            took.append(time.monotonic() - began)
    return took


def _explainer_pids(cluster: BenchCluster) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        try:
            if (
                CHILD_MODULE in (entry / "cmdline").read_bytes()
                and cluster.database_url.encode() in (entry / "environ").read_bytes()
            ):
                yield int(entry.name)
        except OSError:
            continue
