"""The board Provisioning: how long it takes, and where it fails."""

from __future__ import annotations

from grafana_foundation_sdk.models.dashboard import Dashboard

from projections.boards.layout import Row, board, lab_variable
from projections.boards.panels import SECONDS, SHARE, listing, row_link, series, span_link
from projections.boards.queries import prom, rows, steps
from projections.boards.queue_board import quantile

TIME = "labledger_recipe_provisioning_seconds"
FAILURES = "sum by (stage) (increase(labledger_provisioning_failure_seconds_count[$__rate_interval]))"


def provisioning() -> Dashboard:
    lab = span_link("Time line", "/lab")
    links = [row_link("system", "/systems/{}"), row_link("recipe", "/recipes/{}")]
    units = {"seconds": SECONDS, "p95": SECONDS, "share": SHARE}
    return board(
        "Provisioning",
        "How long provisioning takes, and where it fails",
        [
            Row(
                9,
                [
                    series(
                        "Time until the first task: p50 and p95",
                        prom(quantile(0.5, TIME), "p50", "A"),
                        prom(quantile(0.95, TIME), "p95", "B"),
                        unit=SECONDS,
                        link=lab,
                    ),
                    series(
                        "Failures by stage", prom(FAILURES, "{{stage}}"), unit="short", link=lab, stacked=True
                    ),
                ],
            ),
            Row(
                9,
                [
                    series(
                        "Ended provisionings", steps("provisionings"), unit="short", link=lab, stacked=True
                    ),
                    series("Failures by lab", steps("failures_by_lab"), unit="short", link=lab, stacked=True),
                ],
            ),
            Row(
                10,
                [
                    listing(
                        "Systems with most failures",
                        rows("provisionings_by_system"),
                        link=lab,
                        links=links,
                        units=units,
                    ),
                    listing("Under way", rows("under_way"), link=lab, links=links),
                ],
            ),
            Row(10, [listing("Last failures", rows("last_failures"), link=lab, links=links, units=units)]),
        ],
        [lab_variable()],
    )
