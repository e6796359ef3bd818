"""How the figures grow with the queue, as one picture of small ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from api.bench.outcome import Outcome
from api.bench.targets import TARGETS
from domain.errors import LabledgerError

# What is shown of each case that is run at several depths.
SHOWN: Mapping[str, tuple[str, ...]] = {
    "pending": ("p50_ms", "p99_ms"),
    "saturated": ("allocations_per_second",),
    "verify": ("decisions_per_second",),
    "multihost": ("single_recipes_per_second", "recipes_per_second"),
    "query": ("p99_ms", "worst_resource_p99_ms"),
}
INCHES = (4.0, 3.0)


def write_picture(outcomes: Sequence[Outcome], file: Path) -> None:
    """A diagram for each case, logarithmic along the queue; dashed is what is to be reached."""
    require_matplotlib()
    from matplotlib.figure import Figure

    cases = [case for case in SHOWN if any(outcome.case == case for outcome in outcomes)]
    if not cases:
        return
    figure = Figure(figsize=(INCHES[0] * len(cases), INCHES[1]), layout="constrained")
    for axes, case in zip(figure.subplots(1, len(cases), squeeze=False)[0], cases, strict=True):
        runs = [outcome for outcome in outcomes if outcome.case == case]
        queued = [run.sizes.queued for run in runs]
        for name in SHOWN[case]:
            (line,) = axes.plot(queued, [run.figures[name] for run in runs], marker="o", label=name)
            target = TARGETS.get((case, name))
            if target is not None:
                axes.axhline(target.bound, color=line.get_color(), linestyle="--", linewidth=1)
        axes.set(title=case, xlabel="queued recipes", xscale="log")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize="small")
    figure.savefig(file, metadata={"Date": None})


def require_matplotlib() -> None:
    """Raises NoPictures before anything is measured in vain."""
    try:
        import matplotlib  # noqa: F401  (only whether it is there)
    except ModuleNotFoundError:
        raise NoPictures(
            "for its picture `bench all` needs matplotlib: pip install 'labledger[bench]'"
        ) from None


class NoPictures(LabledgerError):
    """What draws is not installed."""
