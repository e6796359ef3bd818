"""Where the numbers come from: the rows of the read models, and of what all processes have counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from prometheus_client.core import Metric

from api.metrics.declared import COUNTERS, DURATIONS, GAUGES, HISTOGRAMS, Declared
from api.metrics.families import Samples, Values, counter, gauge, histogram, limits
from api.store.lease import NAMESPACE, SCHEDULER
from projections.reader import Reader, Row

# A gauge's query and the column of its value; the columns of its labels are called as they are.
READ: Final[Mapping[str, tuple[str, str]]] = {
    "systems": ("systems_by_usage", "systems"),
    "recipes": ("recipes_by_state", "recipes"),
    "oldest_unplaced_seconds": ("oldest_unplaced", "seconds"),
    "watchers": ("watchers", "watchers"),
    "log_position": ("log_end", "position"),
    "projector_lag_events": ("projectors", "events"),
    "projector_lag_seconds": ("projectors", "seconds"),
    "scheduler_active": ("lease_held", "held"),
}
PARAMS: Final[Mapping[str, tuple[Any, ...]]] = {"lease_held": (NAMESPACE, SCHEDULER)}


async def measured(reader: Reader) -> list[Metric]:
    """Everything that is declared, as it is now. Raises DatabaseAway."""
    return [*await _gauges(reader), *await _durations(reader), *await _counted(reader)]


async def _gauges(reader: Reader) -> list[Metric]:
    queries = {query for query, _ in READ.values()}
    rows = {query: await reader.rows(query, PARAMS.get(query, ())) for query in sorted(queries)}
    return [gauge(metric, _samples(metric, rows[READ[metric.name][0]])) for metric in GAUGES]


def _samples(metric: Declared, rows: Iterable[Row]) -> Samples:
    _, column = READ[metric.name]
    return {tuple(row[label] for label in metric.labels): float(row[column]) for row in rows}


async def _durations(reader: Reader) -> list[Metric]:
    rows = await reader.rows("durations")
    return [_duration(metric, [row for row in rows if metric.name == _name(row)]) for metric in DURATIONS]


def _name(row: Row) -> str:
    return f"recipe_{row['measure']}_seconds"


def _duration(metric: Declared, rows: Sequence[Row]) -> Metric:
    buckets = {limits(metric.bounds)[row["bucket"]]: float(row["count"]) for row in rows}
    return histogram(metric, {(): buckets}, {(): sum(row["seconds"] for row in rows)})


async def _counted(reader: Reader) -> list[Metric]:
    rows = await reader.rows("counted")
    counters = (counter(metric, _of(metric.name, metric, rows)) for metric in COUNTERS)
    return [*counters, *(_histogram(metric, rows) for metric in HISTOGRAMS)]


def _histogram(metric: Declared, rows: Iterable[Row]) -> Metric:
    buckets: dict[Values, dict[str, float]] = {}
    for row in rows:
        if row["name"] == f"{metric.name}_bucket":
            buckets.setdefault(_values(metric, row), {})[row["labels"]["le"]] = row["value"]
    return histogram(metric, buckets, _of(f"{metric.name}_sum", metric, rows))


def _of(name: str, metric: Declared, rows: Iterable[Row]) -> Samples:
    return {_values(metric, row): row["value"] for row in rows if row["name"] == name}


def _values(metric: Declared, row: Row) -> Values:
    return tuple(row["labels"][label] for label in metric.labels)
