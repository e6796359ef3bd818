"""A picture of figures by length of the queue: one diagram for each case."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.outcome import CaseOutcome
from bench.targets import TARGETS
from domain.errors import LabledgerError

# Case -> the figures to show, for cases that run with several lengths of the queue.
SHOWN_FIGURES: Mapping[str, tuple[str, ...]] = {
    "pending": ("p50_ms", "p99_ms"),
    "submit": ("jobs_per_second",),
    "saturated": ("allocations_per_second",),
    "verify": ("decisions_per_second",),
    "multihost": ("single_recipes_per_second", "recipes_per_second"),
    "query": ("p99_ms", "worst_resource_p99_ms"),
}
INCHES = (4.5, 3.2)
IN_A_ROW = 2


def write_picture(outcomes: Sequence[CaseOutcome], file: Path) -> None:
    """Write a diagram for each case with an outcome. The axis of the queue is logarithmic."""
    require_matplotlib()
    from matplotlib.figure import Figure

    cases = [case for case in SHOWN_FIGURES if any(outcome.case == case for outcome in outcomes)]
    if not cases:
        return
    rows = -(-len(cases) // IN_A_ROW)
    figure = Figure(figsize=(INCHES[0] * IN_A_ROW, INCHES[1] * rows), layout="constrained")
    figure.suptitle("dashed: the target at the deepest queue", fontsize="small")
    places = figure.subplots(rows, IN_A_ROW, squeeze=False).flat
    for axes in places[len(cases) :]:
        axes.set_visible(False)
    for axes, case in zip(places, cases, strict=False):
        runs = [outcome for outcome in outcomes if outcome.case == case]
        queued = [run.sizes.queued for run in runs]
        for name in SHOWN_FIGURES[case]:
            (line,) = axes.plot(queued, [run.figures[name] for run in runs], marker="o", label=name)
            target = TARGETS.get((case, name))
            if target is not None:
                axes.axhline(target.bound, color=line.get_color(), linestyle="--", linewidth=1)
        unit = SHOWN_FIGURES[case][0].rpartition("_per_")
        axes.set(title=case, xlabel="queued recipes", xscale="log", ylabel="a second" if unit[1] else "ms")
        # Room for the legend above the lines.
        axes.set_ylim(bottom=0, top=axes.get_ylim()[1] * 1.35)
        axes.legend(fontsize="x-small", loc="upper center", ncols=2)
    figure.savefig(file, metadata={"Date": None})


def require_matplotlib() -> None:
    """Raise NoPictures if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401  (only whether it is there)
    except ModuleNotFoundError:
        raise NoPictures(
            "`bench all` needs matplotlib for its picture. Install it:"
            f" {sys.executable} -m pip install 'labledger[bench]'"
        ) from None


class NoPictures(LabledgerError):
    """The library that draws the picture is not installed."""
