"""Prometheus families: each declared metric with its samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import accumulate, product

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.utils import floatToGoString

from api.metrics.declarations import MetricSpec

Values = tuple[str, ...]
"""The values of the labels, in the order of their declaration."""
Samples = Mapping[Values, float]


def gauge(metric: MetricSpec, samples: Samples) -> GaugeMetricFamily:
    family = GaugeMetricFamily(metric.family, metric.text, labels=tuple(metric.labels))
    for values, value in {**_initial_samples(metric), **samples}.items():
        family.add_metric(values, value)
    return family


def counter(metric: MetricSpec, samples: Samples) -> CounterMetricFamily:
    family = CounterMetricFamily(metric.family, metric.text, labels=tuple(metric.labels))
    for values, value in {**_initial_samples(metric), **samples}.items():
        family.add_metric(values, value)
    return family


def histogram(
    metric: MetricSpec, buckets: Mapping[Values, Mapping[str, float]], sums: Samples
) -> HistogramMetricFamily:
    """Return a histogram; `buckets` are the counts within each bucket, not cumulative, by upper bound."""
    family = HistogramMetricFamily(metric.family, metric.text, labels=tuple(metric.labels))
    for values in {**_initial_samples(metric), **sums}:
        counts = buckets.get(values, {})
        cumulative = accumulate(counts.get(limit, 0.0) for limit in limits(metric.bounds))
        pairs = list(zip(limits(metric.bounds), cumulative, strict=True))
        family.add_metric(values, pairs, sums.get(values, 0.0))
    return family


@cache
def limits(bounds: tuple[float, ...]) -> tuple[str, ...]:
    """Return the values of `le`: one for each bound, and `+Inf`."""
    to_text: Callable[[float], str] = floatToGoString
    return tuple(to_text(bound) for bound in (*bounds, float("inf")))


def _initial_samples(metric: MetricSpec) -> dict[Values, float]:
    """Return a sample of 0 for each combination of label values, if all values are listed."""
    listed = [values for values in metric.labels.values() if values is not None]
    if len(listed) < len(metric.labels):
        return {}
    return dict.fromkeys(product(*listed), 0.0)
