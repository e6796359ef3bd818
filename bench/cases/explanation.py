"""Why recipes wait, and why others got their systems, asked over HTTP one after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from random import Random

from bench.cases.full_lab import enable
from bench.cluster_fixture import Stand, peak_mb
from bench.completions import endings, running
from bench.latencies import in_milliseconds
from bench.measurements import SQL
from bench.outcome import Figures, Sizes
from bench.progress import Told
from bench.settling import settle

EXPLAINS = b"workers.explaining.child"
# However long they take.
LEAST = 5


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    """While nothing happens, and while recipes end; every system has a recipe, and the queue waits."""
    enable(stand)
    chance = Random(f"explanation/{sizes.seed}")
    waiting = [recipe_id for (recipe_id,) in stand.log.rows(SQL["unplaced"], ())]
    if not waiting:
        raise ValueError("nobody waits, so there is nothing to explain")
    placed = [recipe_id for recipe_id, _ in running(stand)]
    chance.shuffle(waiting)
    chance.shuffle(placed)
    told("explanations", 0, 4)
    (first,) = _asked(stand, waiting[:1], 0.0, least=1)
    told("explanations", 1, 4)
    quiet = _asked(stand, waiting, sizes.seconds)
    told("explanations", 2, 4)
    with endings(stand, sizes.rate):
        busy = _asked(stand, waiting, sizes.seconds)
    settle(stand)
    told("explanations", 3, 4)
    granted = _asked(stand, placed, sizes.seconds)
    told("explanations", 4, 4)
    return {
        "first_answer_seconds": round(first, 2),
        "explained": len(quiet),
        **in_milliseconds(quiet),
        **{f"while_recipes_end_{name}": value for name, value in in_milliseconds(busy).items()},
        "placed_explained": len(granted),
        **{f"placed_{name}": value for name, value in in_milliseconds(granted).items()},
        "explainer_peak_mb": round(max(map(peak_mb, _explaining(stand)))),
    }


def _asked(stand: Stand, recipe_ids: Sequence[int], seconds: float, least: int = LEAST) -> list[float]:
    """The seconds of each answer, for so long, and so many at least."""
    until, took = time.monotonic() + seconds, list[float]()
    recipes = cycle(recipe_ids)
    with stand.client() as client:
        while (began := time.monotonic()) < until or len(took) < least:
            client.get(f"/recipes/{next(recipes)}/explanation")
            took.append(time.monotonic() - began)
    return took


def _explaining(stand: Stand) -> Iterator[int]:
    """The processes that explain what is in this database."""
    for entry in Path("/proc").iterdir():
        try:
            if (
                EXPLAINS in (entry / "cmdline").read_bytes()
                and _database(stand) in (entry / "environ").read_bytes()
            ):
                yield int(entry.name)
        except OSError:
            continue


def _database(stand: Stand) -> bytes:
    return stand.database_url.encode()
