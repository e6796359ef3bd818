"""The board Queue: unplaced recipes, and the waits of those that got a system."""

from __future__ import annotations

from grafana_foundation_sdk.models.dashboard import Dashboard

from projections.boards.layout import Row, board
from projections.boards.panels import SECONDS, SHARE, listing, moment_link, row_link, series, span_link
from projections.boards.queries import prom, rows, steps

WAIT_UNITS = dict.fromkeys(("p50", "p90", "longest", "longest wait", "wait"), SECONDS)


def quantile(share: float, metric: str, by: str = "le") -> str:
    """Return the quantile of a histogram of Prometheus over the step of the panel."""
    return f"histogram_quantile({share}, sum by ({by}) (rate({metric}_bucket[$__rate_interval])))"


def judged(outcomes: str) -> str:
    """Return the number of judged estimates with one of these outcomes, of the last hour."""
    return f'sum(increase(labledger_estimated_recipes_total{{outcome=~"{outcomes}"}}[1h]))'


def queue() -> Dashboard:
    present, usage = moment_link("Queue", "/queue"), span_link("Usage and waits", "/usage")
    wait = "labledger_recipe_wait_seconds"
    return board(
        "Queue",
        "Unplaced recipes, and the waits of those that got a system",
        [
            Row(
                9,
                [
                    series(
                        "Unplaced recipes by priority",
                        steps("unplaced_by_priority"),
                        unit="short",
                        link=present,
                        stacked=True,
                    ),
                    series(
                        "Unplaced recipes by current reason",
                        prom(
                            "sum by (reason) (max by (reason, priority) (labledger_unplaced_recipes)) > 0",
                            "{{reason}}",
                        ),
                        description="Reasons without recipes are not shown",
                        unit="short",
                        link=present,
                        stacked=True,
                    ),
                ],
            ),
            Row(
                9,
                [
                    series(
                        "Oldest unplaced recipe by priority",
                        prom("max by (priority) (labledger_oldest_unplaced_seconds)", "{{priority}}"),
                        unit=SECONDS,
                        link=present,
                    ),
                    series(
                        "Waits by priority: p50 and p90",
                        prom(quantile(0.5, wait, "priority, le"), "{{priority}} p50", "A"),
                        prom(quantile(0.9, wait, "priority, le"), "{{priority}} p90", "B"),
                        unit=SECONDS,
                        link=usage,
                        description="Of recipes whose wait has ended",
                    ),
                    series(
                        "Estimates that came true",
                        prom(f"{judged('within-p90')} / {judged('within-p90|later')}", "within p90", "A"),
                        prom(
                            f"{judged('no-estimate')} / {judged('within-p90|later|no-estimate')}",
                            "without an estimate",
                            "B",
                        ),
                        unit=SHARE,
                        link=usage,
                        description="Of sampled recipes that started within the last hour; 90 % is right",
                    ),
                ],
            ),
            Row(
                9,
                [
                    listing("Waits by group", rows("waits_by_group"), link=usage, units=WAIT_UNITS),
                    listing("Waits by pool", rows("waits_by_pool"), link=usage, units=WAIT_UNITS),
                    listing("Unplaced by group", rows("unplaced_by_group"), link=present, units=WAIT_UNITS),
                ],
            ),
            Row(
                10,
                [
                    listing(
                        "Longest waits",
                        rows("longest_waits"),
                        link=present,
                        links=[row_link("recipe", "/recipes/{}/why"), row_link("job", "/jobs/{}")],
                        units=WAIT_UNITS,
                    )
                ],
            ),
        ],
    )
