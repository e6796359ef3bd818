"""Prometheus families: each declared metric with its samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import accumulate, product

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.utils import floatToGoString

from api.metrics.declarations import Declared

Values = tuple[str, ...]
"""The values of the labels, in the order of their declaration."""
Samples = Mapping[Values, float]


def gauge(metric: Declared, samples: Samples) -> GaugeMetricFamily:
    family = GaugeMetricFamily(metric.family, metric.text, labels=tuple(metric.labels))
    for values, value in {**_beginning(metric), **samples}.items():
        family.add_metric(values, value)
    return family


def counter(metric: Declared, samples: Samples) -> CounterMetricFamily:
    family = CounterMetricFamily(metric.family, metric.text, labels=tuple(metric.labels))
    for values, value in {**_beginning(metric), **samples}.items():
        family.add_metric(values, value)
    return family


def histogram(
    metric: Declared, buckets: Mapping[Values, Mapping[str, float]], sums: Samples
) -> HistogramMetricFamily:
    """Return a histogram; `buckets` are the counts of each bucket alone, by its limit."""
    family = HistogramMetricFamily(metric.family, metric.text, labels=tuple(metric.labels))
    for values in {**_beginning(metric), **sums}:
        found = buckets.get(values, {})
        upto = accumulate(found.get(limit, 0.0) for limit in limits(metric.bounds))
        family.add_metric(values, list(zip(limits(metric.bounds), upto, strict=True)), sums.get(values, 0.0))
    return family


@cache
def limits(bounds: tuple[float, ...]) -> tuple[str, ...]:
    """Return the values of `le`: one for each bound, and `+Inf`."""
    written: Callable[[float], str] = floatToGoString
    return tuple(written(bound) for bound in (*bounds, float("inf")))


def _beginning(metric: Declared) -> dict[Values, float]:
    """Return the initial samples: 0 for each combination of declared label values."""
    listed = [values for values in metric.labels.values() if values is not None]
    if len(listed) < len(metric.labels):
        return {}
    return dict.fromkeys(product(*listed), 0.0)
