"""The report of `labledger bench all`: a page, a picture, and every outcome as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench.cpu_use import limit_met
from bench.outcome import CaseOutcome
from bench.picture import write_picture
from bench.targets import PENDING_GROWTH, TARGETS, apply_to
from runtime.machine_memory import machine_memory

PAGE, PICTURE, OUTCOMES = "report.md", "growth.svg", "outcomes.json"
REACHED, MISSED, OTHER_SIZES = "reached", "**missed**", "other sizes"


def write_report(outcomes: Sequence[CaseOutcome], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_picture(outcomes, folder / PICTURE)
    documents = [outcome.document() for outcome in outcomes]
    (folder / OUTCOMES).write_text(json.dumps(documents, indent=1) + "\n", encoding="utf-8")
    (folder / PAGE).write_text("\n".join(page(outcomes)) + "\n", encoding="utf-8")


def page(outcomes: Sequence[CaseOutcome]) -> Iterator[str]:
    yield from ("# `labledger bench all`", "", _machine(), "")
    yield from _targets(outcomes)
    yield from ("", f"![how the figures grow with the queue]({PICTURE})", "")
    for case, runs in _by_case(outcomes).items():
        yield from _case(case, runs)


def _machine() -> str:
    memory_gb = machine_memory() / 1024**3
    return (
        f"Labledger {version('labledger')} on {datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores"
        f" ({_processor()}), {memory_gb:.0f} GB of memory, {platform.system()} {platform.machine()},"
        f" Python {platform.python_version()}. Targets apply to the default sizes; the deepest"
        " queue is compared with them."
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "of unknown make")


def _targets(outcomes: Sequence[CaseOutcome]) -> Iterator[str]:
    """Yield the table of targets, each with the run of its case that has the longest queue."""
    yield from ("| case | figure | target | measured | |", "|---|---|---|---|---|")
    deepest = {case: runs[-1] for case, runs in _by_case(outcomes).items()}
    for (case, name), target in TARGETS.items():
        figures = {**deepest[case].figures, **deepest[case].ratios} if case in deepest else {}
        # A figure of Chromium is missing where there is no Chromium.
        if (value := figures.get(name)) is not None:
            yield _row(deepest[case], name, target, value, target.is_met(value))
    runs = _by_case(outcomes).get("pending", [])
    if len(runs) > 1:
        grown = runs[-1].figures["p99_ms"] / runs[0].figures["p99_ms"]
        name = f"p99 at {runs[-1].sizes.queued:,} queued, times that at {runs[0].sizes.queued:,}"
        yield _row(runs[-1], name, f"at most {PENDING_GROWTH:g}", round(grown, 2), grown <= PENDING_GROWTH)


def _row(run: CaseOutcome, name: str, target: object, value: float, is_met: bool) -> str:
    judged = (REACHED if is_met else MISSED) if apply_to(run.sizes) else OTHER_SIZES
    return f"| `{run.case}` | {name} | {target} | {value:,} | {judged} |"


def _case(case: str, runs: Sequence[CaseOutcome]) -> Iterator[str]:
    """Yield a table of every figure, with a column for each depth of the queue."""
    yield from (f"## {case}", "")
    heads = [f"{run.sizes.queued:,} queued" for run in runs]
    yield f"| {case} | {' | '.join(heads)} |"
    yield f"|---|{'---|' * len(runs)}"
    sections = ("figures", "limits", "ratios")
    for section in sections:
        for name in _names(getattr(run, section) for run in runs):
            values = [getattr(run, section).get(name) for run in runs]
            shown = " | ".join("" if value is None else f"{value:,}" for value in values)
            label = name if section == "figures" else f"{section.removesuffix('s')}: {name}"
            yield f"| {label} | {shown} |"
    sizes = ", ".join(f"{name} {size:,}" for name, size in runs[-1].document()["sizes"].items() if size)
    yield from ("", f"Sizes: {sizes}.", "")
    if limit := limit_met(runs[-1].figures):
        yield from (f"Limit: {limit}.", "")


def _names(figures: Iterable[Mapping[str, float]]) -> list[str]:
    return list(dict.fromkeys(name for values in figures for name in values))


def _by_case(outcomes: Sequence[CaseOutcome]) -> dict[str, list[CaseOutcome]]:
    """Group outcomes by case, in the order of the report, each with the shallowest queue first."""
    by_case: dict[str, list[CaseOutcome]] = {}
    for outcome in outcomes:
        by_case.setdefault(outcome.case, []).append(outcome)
    return by_case
