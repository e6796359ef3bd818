"""The samples of all metrics, from the read models and the counters of all processes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from prometheus_client.core import Metric

from api.metrics.declarations import COUNTERS, DURATIONS, GAUGES, HISTOGRAMS, Declared
from api.metrics.families import Samples, Values, counter, gauge, histogram, limits
from projections.reader import Reader, Row
from store.event_log import EventLog
from store.lease import SCHEDULER
from store.readiness import database_state

DECLARED: Final = {metric.name: metric for metric in GAUGES}
# The query of a gauge and the column of its value; the label columns have the names of the labels.
READ: Final[Mapping[str, tuple[str, str]]] = {
    "systems": ("systems_by_usage", "systems"),
    "recipes": ("recipes_by_state", "recipes"),
    "oldest_unplaced_seconds": ("oldest_unplaced", "seconds"),
    "lab_controller_silent": ("silent_labs", "silent"),
    "watchers": ("watchers", "watchers"),
    "projector_lag_events": ("projectors", "events"),
    "projector_lag_seconds": ("projectors", "seconds"),
}


# Left out while the read models are built: partial counters would look like a reset.
WHOLE_ONLY: Final = frozenset({"systems", "recipes", "oldest_unplaced_seconds", "lab_controller_silent"})


async def measured(reader: Reader, log: EventLog) -> list[Metric]:
    """Return the present samples of all metrics, without those of read models that are being built.

    Raises DatabaseAway.
    """
    is_whole = reader.is_whole
    shown = {name: query for name, (query, _) in READ.items() if is_whole or name not in WHOLE_ONLY}
    asked = sorted({*shown.values(), "counted", *(("durations",) if is_whole else ())})
    # Concurrent queries: on a busy machine each of them mostly waits.
    found, samples = await asyncio.gather(
        reader.together(*((query, ()) for query in asked)), _standing(reader, log)
    )
    rows = dict(zip(asked, found, strict=True))
    samples |= {name: _samples(DECLARED[name], rows[query]) for name, query in shown.items()}
    return [
        *(gauge(metric, samples[metric.name]) for metric in GAUGES if metric.name in samples),
        *(_durations(rows["durations"]) if is_whole else ()),
        *_counted(rows["counted"]),
    ]


async def _standing(reader: Reader, log: EventLog) -> dict[str, Samples]:
    """Return the state of the scheduler, as in `/readyz`."""
    said = await asyncio.to_thread(database_state, log, SCHEDULER, reader.position)
    return {"log_position": {(): said.log_end}, "scheduler_active": {(): said.has_live_holder}}


def _samples(metric: Declared, rows: Iterable[Row]) -> Samples:
    _, column = READ[metric.name]
    return {tuple(row[label] for label in metric.labels): float(row[column]) for row in rows}


def _durations(rows: Sequence[Row]) -> list[Metric]:
    return [_duration(metric, [row for row in rows if metric.name == _name(row)]) for metric in DURATIONS]


def _name(row: Row) -> str:
    return f"recipe_{row['measure']}_seconds"


def _duration(metric: Declared, rows: Sequence[Row]) -> Metric:
    buckets = {limits(metric.bounds)[row["bucket"]]: float(row["count"]) for row in rows}
    return histogram(metric, {(): buckets}, {(): sum(row["seconds"] for row in rows)})


def _counted(rows: Iterable[Row]) -> list[Metric]:
    by_name: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_name[row["name"]].append(row)
    counters = (counter(metric, _of(metric, by_name[metric.name])) for metric in COUNTERS)
    return [*counters, *(_histogram(metric, by_name) for metric in HISTOGRAMS)]


def _histogram(metric: Declared, by_name: Mapping[str, Sequence[Row]]) -> Metric:
    buckets = {_values(metric, row): row["by_limit"] for row in by_name[f"{metric.name}_bucket"]}
    return histogram(metric, buckets, _of(metric, by_name[f"{metric.name}_sum"]))


def _of(metric: Declared, rows: Iterable[Row]) -> Samples:
    # Only samples of buckets have a limit.
    return {_values(metric, row): row["by_limit"][""] for row in rows}


def _values(metric: Declared, row: Row) -> Values:
    return tuple(row["labels"][label] for label in metric.labels)
