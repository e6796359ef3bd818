"""/metrics"""

from __future__ import annotations

from collections.abc import Iterable

from falcon.asgi import Request, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from api.rest.contract.operation import operation
from api.services import Services

DECIDED = {
    "decisions": "Decisions that the scheduler committed",
    "commits": "Commits of the scheduler",
    "conflicts": "Commits of the scheduler refused because something had moved",
}


class Metrics:
    def __init__(self, services: Services) -> None:
        self._services = services

    @operation("Show the metrics, for Prometheus", gives=("text/plain", "application/openmetrics-text"))
    async def on_get(self, req: Request, resp: Response) -> None:
        registry = CollectorRegistry(auto_describe=False)
        elsewhere = [await self._found(), *await self._decided()]
        registry.register(_Once([*await self._measured(), *self._counted(), *elsewhere]))
        resp.content_type = "text/plain; version=0.0.4; charset=utf-8"
        resp.data = generate_latest(registry)

    async def _measured(self) -> Iterable[Metric]:
        """From the read models."""
        reader = self._services.reader
        systems = GaugeMetricFamily("labledger_systems", "Systems now", labels=("condition", "usage"))
        for row in await reader.rows("systems_by_usage"):
            systems.add_metric((row["condition"], row["usage"]), row["systems"])
        recipes = GaugeMetricFamily("labledger_recipes", "Unfinished recipes now", labels=("state",))
        for row in await reader.rows("recipes_by_state"):
            recipes.add_metric((row["state"],), row["recipes"])
        oldest = await reader.row("oldest_unplaced")
        end = await reader.row("log_end")
        assert oldest is not None and end is not None
        return (
            systems,
            recipes,
            GaugeMetricFamily(
                "labledger_oldest_unplaced_seconds", "How long the oldest recipe waits", oldest["seconds"]
            ),
            GaugeMetricFamily("labledger_log_position", "Last position of the log", end["position"]),
            GaugeMetricFamily(
                "labledger_projector_lag_events",
                "Events the read models are behind",
                max(0, end["position"] - reader.position),
            ),
        )

    def _counted(self) -> Iterable[Metric]:
        """By this process."""
        commits = self._services.commits.counters
        tailer = self._services.feed.tailer
        rows = [
            ("labledger_append_commits", "Statements that appended", commits.commits),
            ("labledger_append_requests", "Requests that were appended together", commits.requests),
            ("labledger_append_events", "Events appended", commits.events),
            ("labledger_append_conflicts", "Requests refused by a version or a fence", commits.conflicts),
            ("labledger_append_retries", "Appends tried again after the database was away", commits.retries),
        ]
        if tailer is not None:
            found, lost = tailer.counters.backstop_finds, tailer.counters.reconnects
            rows.append(("labledger_tailer_backstop_finds", "Pages only the backstop poll found", found))
            rows.append(("labledger_tailer_reconnects", "Times the log connection was renewed", lost))
        return [CounterMetricFamily(name, text, value) for name, text, value in rows]

    async def _found(self) -> Metric:
        """By the scheduler's consistency loop; nothing until it has run once."""
        found = CounterMetricFamily(
            "labledger_consistency_findings",
            "What the consistency loop found; out_of_step and idle_but_wanted never happen",
            labels=("finding",),
        )
        for row in await self._services.reader.rows("counted", ("consistency",)):
            found.add_metric((row["name"],), row["value"])
        return found

    async def _decided(self) -> Iterable[Metric]:
        """By the scheduler; nothing until its consistency loop has run once."""
        rows = await self._services.reader.rows("counted", ("scheduler",))
        counted = {row["name"]: row["value"] for row in rows}
        return [
            CounterMetricFamily(f"labledger_scheduler_{name}", text, counted[name])
            for name, text in DECIDED.items()
            if name in counted
        ]


class _Once:
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics
