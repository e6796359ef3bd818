"""Counters of requests in a serving process."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import cache

from api.metrics.declarations import REQUEST_BOUNDS
from api.metrics.families import limits
from store.counters import Series, Totals, series

LIMITS = limits(REQUEST_BOUNDS)


class RequestCounters:
    """Counters that the event loop increments; another thread may read the totals."""

    def __init__(self) -> None:
        self._totals: defaultdict[Series, float] = defaultdict(float)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request by the template of its path. Buckets are not cumulative."""
        limit = LIMITS[bisect_left(REQUEST_BOUNDS, seconds)]
        requests, bucket, summed = _series_of(method, route, status // 100, limit)
        self._totals[requests] += 1
        self._totals[bucket] += 1
        self._totals[summed] += seconds

    def totals(self) -> Totals:
        return dict(self._totals)


@cache
def _series_of(method: str, route: str, hundreds: int, limit: str) -> tuple[Series, Series, Series]:
    request = {"method": method, "route": route}
    return (
        series("http_requests", status=f"{hundreds}xx", **request),
        series("http_request_seconds_bucket", le=limit, **request),
        series("http_request_seconds_sum", **request),
    )
