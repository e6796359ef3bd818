"""The board Scheduler: decisions, the log, the read models and the HTTP API."""

from __future__ import annotations

from grafana_foundation_sdk.models.dashboard import Dashboard

from domain.scheduling.supply.waiting_reasons import PARTITION_STOPPED, TO_BE_ASKED, UNSAFE
from projections.boards.layout import Row, board
from projections.boards.panels import PER_SECOND, SECONDS, Panel, series, span_link
from projections.boards.queries import Target, prom
from projections.boards.queue_board import quantile

# The reasons for which a usable system may stay free.
OF_SCHEDULER = (TO_BE_ASKED, UNSAFE, PARTITION_STOPPED)


def rate(counter: str, by: str = "") -> str:
    """Return the rate of a counter, added up over all its labels but those in `by`."""
    return f"sum{f' by ({by})' if by else ''} (rate(labledger_{counter}_total[$__rate_interval]))"


def _panel(title: str, *targets: Target, unit: str = PER_SECOND, description: str = "") -> Panel:
    audit = span_link("Log", "/events")
    return series(title, *targets, unit=unit, link=audit, description=description)


def scheduler() -> Dashboard:
    return board(
        "Scheduler",
        "Decisions, the log, the read models and the HTTP API",
        [
            Row(
                8,
                [
                    _panel(
                        "Scheduler at work, by partition",
                        prom("max by (partition) (labledger_scheduler_active)", "{{partition}}"),
                        unit="short",
                    ),
                    _panel(
                        "Decisions by trigger", prom(rate("scheduler_decisions", "trigger"), "{{trigger}}")
                    ),
                    _panel(
                        "Commits of the scheduler",
                        prom(rate("scheduler_commits"), "commits", "A"),
                        prom(rate("scheduler_conflicts"), "refused", "B"),
                        prom(rate("scheduler_commits_reread"), "rolled back", "C"),
                    ),
                    _panel(
                        "Recipes that wait for the scheduler",
                        prom(
                            "sum by (reason) (max by (reason, priority) "
                            f'(labledger_unplaced_recipes{{reason=~"{"|".join(OF_SCHEDULER)}"}}))',
                            "{{reason}}",
                        ),
                        unit="short",
                        description="Although a usable system is free, or the partition is stopped",
                    ),
                ],
            ),
            Row(
                8,
                [
                    _panel(
                        "Appended events",
                        prom(rate("scheduler_events"), "scheduler", "A"),
                        prom(rate("append_events"), "requests", "B"),
                    ),
                    _panel(
                        "Append requests",
                        prom(rate("append_requests"), "requests", "A"),
                        prom(rate("append_commits"), "statements", "B"),
                        prom(rate("append_conflicts"), "refused", "C"),
                        prom(rate("append_retries"), "retried", "D"),
                    ),
                    _panel(
                        "Lag of the read models",
                        prom("max by (projector) (labledger_projector_lag_seconds)", "{{projector}}"),
                        unit=SECONDS,
                    ),
                ],
            ),
            Row(
                8,
                [
                    _panel("HTTP requests by status", prom(rate("http_requests", "status"), "{{status}}")),
                    _panel(
                        "Time of HTTP requests: p50 and p99",
                        prom(quantile(0.5, "labledger_http_request_seconds"), "p50", "A"),
                        prom(quantile(0.99, "labledger_http_request_seconds"), "p99", "B"),
                        unit=SECONDS,
                        description="Long polls included",
                    ),
                    _panel("Watchers of events", prom("max(labledger_watchers)", "watchers"), unit="short"),
                ],
            ),
            Row(
                8,
                [
                    _panel(
                        "Resource locks",
                        prom("max by (level, state) (labledger_locks)", "{{level}} {{state}}"),
                        unit="short",
                    ),
                    _panel(
                        "Findings of the consistency loop",
                        prom(rate("consistency_findings", "finding"), "{{finding}}"),
                    ),
                    _panel(
                        "Signs of bugs",
                        prom(rate("conservation_violations", "law"), "law of {{law}}", "A"),
                        prom(rate("tailer_backstop_finds", "process"), "found by polling: {{process}}", "B"),
                    ),
                ],
            ),
        ],
    )
