"""The board Wall: the labs at a glance, for a screen that nobody operates."""

from __future__ import annotations

from grafana_foundation_sdk.models.dashboard import Dashboard

from projections.boards.layout import FIRING, Row, board
from projections.boards.panels import SECONDS, listing, moment_link, number, row_link, series, span_link
from projections.boards.queries import now, prom, rows

SYSTEMS = "max by (condition, usage) (labledger_systems)"
IN_USE = 'sum(max by (condition, usage) (labledger_systems{usage=~"scheduled|waiting|installing|running"}))'
IDLE = 'sum(max by (condition, usage) (labledger_systems{condition="Automated", usage="idle"}))'
UNAVAILABLE = 'sum(max by (condition, usage) (labledger_systems{usage=~"draining|occupied|disabled"}))'
BROKEN = 'sum(max by (condition, usage) (labledger_systems{condition="Broken"}))'
UNPLACED = 'sum(max by (state) (labledger_recipes{state=~"new|queued|assigned"}))'


def wall() -> Dashboard:
    queue, lab = moment_link("Queue", "/queue"), span_link("Time line", "/lab")
    systems = moment_link("Systems", "/systems")
    return board(
        "Wall",
        "The labs at a glance",
        [
            Row(
                4,
                [
                    number("Systems in use", prom(IN_USE, "in use"), "short", lab),
                    number("Idle systems", prom(IDLE, "idle"), "short", lab),
                    number(
                        "Draining, occupied or disabled", prom(UNAVAILABLE, "unavailable"), "short", systems
                    ),
                    number("Broken systems", prom(BROKEN, "broken"), "short", systems, bad_from=1),
                    number("Unplaced recipes", prom(UNPLACED, "unplaced"), "short", queue),
                    number(
                        "Oldest unplaced recipe",
                        prom("max(labledger_oldest_unplaced_seconds)", "oldest"),
                        SECONDS,
                        queue,
                        bad_from=86_400,
                    ),
                    number(
                        "Silent labs",
                        prom("sum(max by (lab_controller) (labledger_lab_controller_silent))", "silent"),
                        "short",
                        systems,
                        bad_from=1,
                    ),
                    number(
                        "Lag of the read models",
                        prom("max(labledger_projector_lag_seconds)", "lag"),
                        SECONDS,
                        queue,
                        bad_from=60,
                    ),
                ],
            ),
            Row(
                9,
                [
                    series(
                        "Systems by usage",
                        prom(f"sum by (usage) ({SYSTEMS})", "{{usage}}"),
                        unit="short",
                        link=lab,
                        stacked=True,
                    ),
                    series(
                        "Unfinished recipes by state",
                        prom("max by (state) (labledger_recipes)", "{{state}}"),
                        unit="short",
                        link=queue,
                        stacked=True,
                    ),
                ],
            ),
            Row(
                9,
                [
                    listing("Firing alerts", now(f"max by (alertname, severity) ({FIRING})"), link=queue),
                    listing("Systems by lab", rows("systems_by_lab"), link=lab),
                    listing(
                        "Longest waits",
                        rows("longest_waits"),
                        link=queue,
                        links=[row_link("recipe", "/recipes/{}/why")],
                        units={"wait": SECONDS},
                    ),
                ],
            ),
        ],
    )
