"""Every PromQL query of the boards, over a range, on a real Prometheus that has scraped a working lab."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from tests.boards.grafana_rules import Request, promql
from tests.boards.shipped import PROMETHEUS, ShippedTarget, boards, targets
from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.prometheus.exposed import DECLARED, OPEN
from tests.prometheus.server import Prometheus, prometheus

# No alert fires in the lab of these tests, and boards show firing ones.
FIRING = """
  - name: test
    rules:
      - alert: LabledgerOfThisTest
        expr: vector(1)
        labels: {severity: warning}
"""
TARGETS = targets(PROMETHEUS)
EACH = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
STEP = "5s"

ALERT_LABELS = {"alertname", "alertstate", "severity"}
SELECTED = re.compile(r"\b(labledger_\w+|ALERTS)(?:\{([^}]*)\})?")
MATCHED = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")
LEGEND = re.compile(r"\{\{(\w+)\}\}")


@pytest.fixture(scope="module")
def scraped(service: Running, token: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that has scraped often enough for rates."""
    with prometheus(service, token, tmp_path_factory.mktemp("boards"), FIRING) as started:
        wait_until(
            lambda: set(started.values("count_over_time(up[1m]) > 8")) != set(), "Prometheus to have scraped"
        )
        wait_until(lambda: set(started.values("ALERTS")) != set(), "the alert of this test to fire")
        yield started


@pytest.mark.soak
@EACH
def test_promql_target__working_lab__returns_series(scraped: Prometheus, target: ShippedTarget) -> None:
    now = datetime.now(UTC)
    asked = Request(now - timedelta(minutes=1), now, STEP)
    found = scraped.ask(
        "query_range",
        query=promql(target.target["expr"], asked),
        start=asked.since.isoformat(),
        end=asked.until.isoformat(),
        step=STEP,
    )["result"]
    assert found and all(series["values"] for series in found)
    # The name of a series in the legend must have its labels.
    for label in LEGEND.findall(target.target.get("legendFormat", "")):
        assert all(label in series["metric"] for series in found), label


@pytest.mark.soak
@pytest.mark.parametrize("board", boards().values(), ids=boards())
def test_annotations__alert_fires__return_it(scraped: Prometheus, board: dict[str, object]) -> None:
    (annotation,) = board["annotations"]["list"]  # type: ignore[index]
    assert scraped.values(annotation["expr"])


def declared() -> Mapping[str, Mapping[str, tuple[str, ...] | None]]:
    """Return the labels of each sample that `/metrics` may have, by the name of the sample."""
    found: dict[str, Mapping[str, tuple[str, ...] | None]] = {"ALERTS": dict.fromkeys(ALERT_LABELS)}
    for metric in DECLARED:
        names = (metric.family, f"{metric.family}_total", f"{metric.family}_count", f"{metric.family}_sum")
        found |= dict.fromkeys(names, metric.labels)
        found[f"{metric.family}_bucket"] = {**metric.labels, "le": None}
    return found


@EACH
def test_promql_target__names_and_labels__are_declared(target: ShippedTarget) -> None:
    expression, labels_of = target.target["expr"], declared()
    selected = SELECTED.findall(expression)
    assert selected
    labels = {label for name, _ in selected for label in labels_of[name]}
    for name, matchers in selected:
        for label, values in MATCHED.findall(matchers):
            allowed = labels_of[name][label] or OPEN.get(label)
            assert name == "ALERTS" or set(values.split("|")) <= set(allowed or ()), (name, label, values)
    grouped = {label.strip() for group in GROUPED.findall(expression) for label in group.split(",")}
    assert grouped <= labels


@EACH
def test_promql_target__each__is_an_expression_of_one_kind(target: ShippedTarget) -> None:
    assert target.target.get("range", False) != target.target.get("instant", False)
