"""/metrics"""

from __future__ import annotations

from collections.abc import Iterable

from falcon.asgi import Request, Response
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder

from api.metrics.samples import all_metrics
from api.rest.contract.operation import operation
from api.rest.ports import MetricParts


class Metrics:
    def __init__(self, parts: MetricParts) -> None:
        self._parts = parts

    @operation("Return the metrics for Prometheus", gives=("text/plain", "application/openmetrics-text"))
    async def on_get(self, req: Request, resp: Response) -> None:
        """Answer the metrics, which are the same in every process: all write their counters to one table."""
        self._parts.slow_metrics.note_scrape()
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Once(await all_metrics(self._parts.reader, self._parts.log)))
        encode, resp.content_type = choose_encoder(req.accept)
        resp.data = encode(registry)


class _Once:
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics
