"""The samples of all metrics, from the read models and the counters of all processes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from prometheus_client.core import Metric

from api.metrics.declarations import COUNTERS, DURATIONS, GAUGES, HISTOGRAMS, MetricSpec
from api.metrics.families import Samples, Values, counter, gauge, histogram, limits
from domain.notifications.kinds import MAIL, WEBHOOK
from projections.durations import LABELS, NO_LABEL
from projections.read_sessions import Row
from projections.reader import Reader
from store.event_log import EventLog
from store.readiness import LeaseHolder, database_state

DECLARED: Final = {metric.name: metric for metric in GAUGES}
# Gauge -> its query and the column of its value. The columns of labels have the names of the labels.
GAUGE_QUERIES: Final[Mapping[str, tuple[str, str]]] = {
    "systems": ("systems_by_usage", "systems"),
    "recipes": ("recipes_by_state", "recipes"),
    "locks": ("locks_by_level", "locks"),
    "unplaced_recipes": ("unplaced_by_reason", "recipes"),
    "oldest_unplaced_seconds": ("oldest_unplaced", "seconds"),
    "lab_controller_silent": ("silent_labs", "silent"),
    "notifications": ("notifications_by_state", "notifications"),
    "ldap_sync_failed": ("ldap_sync_failed", "failed"),
    "ldap_sync_age_seconds": ("ldap_sync_age", "seconds"),
    "watchers": ("watchers", "watchers"),
    "projector_lag_events": ("projectors", "events"),
    "projector_lag_seconds": ("projectors", "seconds"),
}


# Omitted, like durations, while the read models are built: partial counts would look like resets.
READ_MODEL_GAUGES: Final = frozenset(
    {"systems", "recipes", "locks", "oldest_unplaced_seconds", "lab_controller_silent"}
)
# Omitted without a row: then they were not computed lately.
SLOW_GAUGES: Final = frozenset({"unplaced_recipes"})


async def all_metrics(reader: Reader, log: EventLog) -> list[Metric]:
    """Return all metrics, without those of read models that are being built. Raises DatabaseAway."""
    is_whole = reader.is_whole
    gauges = {n: query for n, (query, _) in GAUGE_QUERIES.items() if is_whole or n not in READ_MODEL_GAUGES}
    queries = sorted({*gauges.values(), "counted", *(("durations",) if is_whole else ())})
    # Concurrent, because on a busy machine both mostly wait for the database.
    results, samples = await asyncio.gather(
        reader.together(*((query, ()) for query in queries)), _database_samples(reader, log)
    )
    rows = dict(zip(queries, results, strict=True))
    samples |= {
        name: _samples(DECLARED[name], rows[query])
        for name, query in gauges.items()
        if rows[query] or name not in SLOW_GAUGES
    }
    return [
        *(gauge(metric, samples[metric.name]) for metric in GAUGES if metric.name in samples),
        *(_duration_metrics(rows["durations"]) if is_whole else ()),
        *_counter_metrics(rows["counted"]),
    ]


async def _database_samples(reader: Reader, log: EventLog) -> dict[str, Samples]:
    """Return the samples of log, schedulers and notifier, from the same queries as `/readyz`."""
    state = await asyncio.to_thread(database_state, log, reader.position)
    active: Samples = {(name,): _is_live(holder) for name, holder in state.schedulers.items()}
    notifier = state.notifier
    return {
        "log_position": {(): state.log_end},
        "scheduler_active": active,
        # A service that has never had a notifier is not behind.
        "notifier_lag_events": {(): notifier.lag_events if notifier.has_run else 0},
        "notifier_lag_seconds": {(): notifier.lag_seconds if notifier.has_run else 0.0},
        "notification_backlog_seconds": {
            (channel,): notifier.backlog_seconds.get(channel, 0.0) for channel in (MAIL, WEBHOOK)
        },
    }


def _is_live(holder: LeaseHolder | None) -> bool:
    return holder is not None and holder.is_live


def _samples(metric: MetricSpec, rows: Iterable[Row]) -> Samples:
    _, column = GAUGE_QUERIES[metric.name]
    present = (row for row in rows if row[column] is not None)
    return {tuple(row[label] for label in metric.labels): float(row[column]) for row in present}


def _duration_metrics(rows: Sequence[Row]) -> list[Metric]:
    return [
        _duration_histogram(metric, [row for row in rows if _counts(row, measure)])
        for measure, metric in DURATIONS.items()
    ]


def _counts(row: Row, measure: str) -> bool:
    """Return whether a row is one of a metric: rows from before a migration lack the label."""
    return row["measure"] == measure and row["label"] in LABELS.get(measure, (NO_LABEL,))


def _duration_histogram(metric: MetricSpec, rows: Sequence[Row]) -> Metric:
    buckets: defaultdict[Values, dict[str, float]] = defaultdict(dict)
    sums: defaultdict[Values, float] = defaultdict(float)
    for row in rows:
        values = (row["label"],) if metric.labels else ()
        buckets[values][limits(metric.bounds)[row["bucket"]]] = float(row["count"])
        sums[values] += row["seconds"]
    return histogram(metric, buckets, sums)


def _counter_metrics(rows: Iterable[Row]) -> list[Metric]:
    by_name: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_name[row["name"]].append(row)
    counters = (counter(metric, _totals(metric, by_name[metric.name])) for metric in COUNTERS)
    return [*counters, *(_histogram(metric, by_name) for metric in HISTOGRAMS)]


def _histogram(metric: MetricSpec, by_name: Mapping[str, Sequence[Row]]) -> Metric:
    buckets = {_values(metric, row): row["by_limit"] for row in by_name[f"{metric.name}_bucket"]}
    return histogram(metric, buckets, _totals(metric, by_name[f"{metric.name}_sum"]))


def _totals(metric: MetricSpec, rows: Iterable[Row]) -> Samples:
    # The limit is empty for all samples but those of buckets.
    return {_values(metric, row): row["by_limit"][""] for row in rows}


def _values(metric: MetricSpec, row: Row) -> Values:
    return tuple(row["labels"][label] for label in metric.labels)
