"""`labledger replay verify` on the log of a saturated run."""

from __future__ import annotations

import time

from api.bench.cases import saturated
from api.bench.cases.full_lab import fill
from api.bench.outcome import Figures, Sizes
from api.bench.stand import Stand
from api.bench.told import Told


def prepare(stand: Stand, sizes: Sizes, told: Told) -> None:
    fill(stand, sizes, told)
    saturated.measure(stand, sizes, told)


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    """The whole command: each decision made again twice, by two processes side by side; nothing else runs."""
    stand.stop_all()
    began = time.monotonic()
    answers = stand.command("replay", "verify")["hash_seeds"].values()
    seconds = time.monotonic() - began
    decisions = [answer["decisions"] for answer in answers]
    return {
        "events": stand.log.end(),
        "decisions": min(decisions),
        "different": sum(answer["different"] + answer["unchecked"] + answer["mended"] for answer in answers),
        "decisions_per_second": round(min(decisions) / seconds),
        "events_per_second": round(stand.log.end() / seconds),
        "seconds": round(seconds, 2),
    }
