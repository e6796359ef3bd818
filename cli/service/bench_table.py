"""The table of an outcome of the benchmark."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from bench.outcome import CaseOutcome, Figures
from bench.targets import TARGETS, apply_to


def show(outcome: CaseOutcome) -> None:
    """Print an outcome, with its targets if they apply to its sizes."""
    table = Table(
        "", "", "", title=f"bench {outcome.case}", title_justify="left", show_header=False, box=None
    )
    sizes = outcome.document()["sizes"]
    sections: dict[str, Figures] = {
        "sizes": {name: size for name, size in sizes.items() if size is not None},
        "figures": outcome.figures,
        "limits of this machine": outcome.limits,
        "ratios": outcome.ratios,
    }
    for name, figures in sections.items():
        if not figures:
            continue
        table.add_row(f"[bold]{name}[/]", "")
        for figure, value in figures.items():
            table.add_row(f"  {figure}", f"{value:,}", _target(outcome, figure, value))
    Console().print(table)


def _target(outcome: CaseOutcome, figure: str, value: float) -> str:
    target = TARGETS.get((outcome.case, figure))
    if target is None or not apply_to(outcome.sizes):
        return ""
    return f"[dim]{target}[/]" if target.is_met(value) else f"[red]{target}: missed[/]"
