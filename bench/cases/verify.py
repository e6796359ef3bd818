"""`labledger replay verify` on the log of a saturated run."""

from __future__ import annotations

import time

from bench.cases import saturated
from bench.cases.full_lab import fill
from bench.cluster_fixture import Stand
from bench.outcome import Figures, Sizes
from bench.progress import Told


def prepare(stand: Stand, sizes: Sizes, told: Told) -> None:
    fill(stand, sizes, told)
    saturated.measure(stand, sizes, told)


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    """The whole command: each decision made again twice, and the audit, side by side; nothing else runs."""
    stand.stop_all()
    began = time.monotonic()
    found = stand.command("replay", "verify")
    seconds = time.monotonic() - began
    answers = found["hash_seeds"].values()
    decisions = [answer["decisions"] for answer in answers]
    return {
        "events": stand.log.end(),
        "decisions": min(decisions),
        "different": sum(answer["different"] + answer["unchecked"] + answer["mended"] for answer in answers),
        "rules_broken": int(found["audit"]["broken"]),
        "decisions_per_second": round(min(decisions) / seconds),
        "events_per_second": round(stand.log.end() / seconds),
        "seconds": round(seconds, 2),
    }
