"""Generator of the page of metrics: `python -m tests.docs.metrics` writes the page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from api.metrics.counters import WRITE_SECONDS
from api.metrics.declarations import COUNTERS, DURATIONS, GAUGES, HISTOGRAMS, MetricSpec
from api.rest.judged_estimates import MAX_JUDGED
from api.rest.middleware.access_log import OTHER
from api.rest.slow_metrics_computation import MAX_INTERVAL_SECONDS, MIN_INTERVAL_SECONDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
REGENERATE = "python -m tests.docs.metrics"

HEAD = f"""# Metrics

Generated from `api/metrics/declarations.py` by `{REGENERATE}`; change that file, not this page.

`GET /metrics` answers a token of the role `metrics` (or of an admin or auditor) in the text format of
Prometheus, or as OpenMetrics where that is asked for. [deploy/prometheus](../deploy/prometheus) has a
configuration to start from, and [alert rules](alerts.md). [Boards of Grafana](how-to/use-grafana.md) show
most metrics.

```console
$ labledger user put prometheus --role metrics
$ labledger token create prometheus --role metrics > token
```

No label names a job, a recipe, a user or a system; use the lists and the log for these. Each serving process
answers the metrics of all processes, so one target is enough.
"""

TABLE = "| metric | type | labels | meaning |\n|---|---|---|---|"

NOW = f"""## Now

The state at the scrape. Systems and recipes are from the read models, which may be behind the log.

One serving process at a time counts the unplaced recipes by their current reason, as `GET /queue/reasons`
does, while the metrics are scraped: every {MIN_INTERVAL_SECONDS:g} seconds or, with a long queue, less often,
up to every {MAX_INTERVAL_SECONDS / 60:g} minutes, so that questions of users hardly wait for it. A scrape
reads the last numbers. If they are too old, such as after a pause of the scrapes or while an explaining
process reads the log, the metric is absent."""

TIMES = """## How long recipes take

One observation for each recipe that got so far, except guests, since the log began. When the read models are
rebuilt, the histograms start again and reach the same numbers."""

COUNTS = f"""## What processes have counted

Every process adds its counts to one table, every {WRITE_SECONDS:g} seconds and when it stops. So these are
sums over all processes on all machines, and continue after a restart. A killed process loses the counts that
it has not written yet; nothing is counted twice. After a conflict the scheduler decides again; many conflicts
mean many concurrent changes.

`labledger_estimated_recipes_total` judges estimates afterwards: with each count of the unplaced recipes, at
most {MAX_JUDGED} recipes that started since the last one are compared with the p90 that
[`/recipes/{{recipe_id}}/estimate`](http.md) gave, or would have given, when their wait began. Of `within-p90`
and `later`, nine of ten should be `within-p90`. `no-estimate`: there was no p90 then."""

LABELS = """## Labels

| label | values |
|---|---|"""

OPEN = {
    "method": f"the HTTP method; `{OTHER}`: an unknown one",
    "route": f"the path as in the [API](http.md), such as `/jobs/{{job_id}}`; `{OTHER}`: an unknown one",
    "status": "the class of the HTTP status: `2xx`, `4xx`, `5xx`",
    "lab_controller": "the name of a registered lab controller",
    "partition": "the name of a partition",
    "projector": "`all`: one for all read models",
}
ALL = (*GAUGES, *DURATIONS.values(), *COUNTERS, *HISTOGRAMS)


def page() -> str:
    return "\n".join(
        [
            HEAD,
            *_section(NOW, _rows(GAUGES, "gauge")),
            *_section(TIMES, _rows(DURATIONS.values(), "histogram")),
            *_section(COUNTS, [*_rows(COUNTERS, "counter", "_total"), *_rows(HISTOGRAMS, "histogram")]),
            LABELS,
            *(f"| `{label}` | {values} |" for label, values in sorted(_labels().items())),
            "",
        ]
    )


def _section(text: str, rows: Iterable[str]) -> list[str]:
    return [text, "", TABLE, *rows, ""]


def _rows(metrics: Iterable[MetricSpec], kind: str, suffix: str = "") -> list[str]:
    return [
        f"| `{metric.family}{suffix}` | {kind} | {_listed(metric.labels)} | {metric.text} |"
        for metric in metrics
    ]


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _labels() -> dict[str, str]:
    """Return the values of each label, in all metrics that have it."""
    found: dict[str, dict[str, None]] = {}
    for label, values in (each for metric in ALL for each in metric.labels.items()):
        found.setdefault(label, {}).update(dict.fromkeys(values or ()))
    return {label: _listed(values) if values else OPEN[label] for label, values in found.items()}


if __name__ == "__main__":
    PAGE.write_text(page())
