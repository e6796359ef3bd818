"""All systems are idle, and a deep queue wants them: how fast are they given away?"""

from __future__ import annotations

from api.bench.cases.full_lab import enable, fill, wait_for_projectors
from api.bench.filling import Told
from api.bench.measured import span_of
from api.bench.outcome import Figures, Sizes
from api.bench.stand import Stand

EVENTS_EACH = 4


def run(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    lab_controllers = fill(stand, sizes, told)
    before = enable(stand, lab_controllers)
    lag = wait_for_projectors(stand)
    allocations, seconds = span_of(stand.log, "recipe.scheduled", before)
    per_second = allocations / seconds if seconds else 0.0
    return {
        "allocations": allocations,
        "allocations_per_second": round(per_second),
        "events_per_second": round(EVENTS_EACH * per_second),
        "seconds": round(seconds, 3),
        "projectors_behind_seconds": round(lag, 2),
    }
