"""What a process that serves has counted of its requests."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict

from api.metrics.declared import REQUEST_BOUNDS
from api.metrics.families import limits
from api.store.counters import Series, Totals, series

LIMITS = limits(REQUEST_BOUNDS)


class RequestCounters:
    """Counts in the event loop; another thread may ask for the totals."""

    def __init__(self) -> None:
        self._totals: defaultdict[Series, float] = defaultdict(float)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was, to a path by its template. Each bucket counts its own, not those below."""
        request = {"method": method, "route": route}
        limit = LIMITS[bisect_left(REQUEST_BOUNDS, seconds)]
        self._totals[series("http_requests", status=f"{status // 100}xx", **request)] += 1
        self._totals[series("http_request_seconds_bucket", le=limit, **request)] += 1
        self._totals[series("http_request_seconds_sum", **request)] += seconds

    def totals(self) -> Totals:
        return dict(self._totals)
