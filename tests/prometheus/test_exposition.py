"""Content of `/metrics`, and the alert rules."""

from __future__ import annotations

import re
from typing import Any

import httpx
import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families

from api.metrics.declarations import Labels
from tests.prometheus.exposed import DECLARED, OPEN, Exposed, read
from tests.prometheus.tools import RULES, TOP, promtool

OPENMETRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}
# An alert has to name the silent lab. Labs are few and not secret.
MAY_NAME_A_LAB = "labledger_lab_controller_silent"


def test_metrics__with_data_of_every_kind__promtool_finds_no_fault(exposed: Exposed) -> None:
    assert promtool("check", "metrics", stdin=exposed.text) == (0, "")


def test_metrics__as_openmetrics__the_same_families(client: httpx.Client, exposed: Exposed) -> None:
    answer = client.get("/metrics", headers=OPENMETRICS)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = {family.name: family for family in openmetrics_families(answer.text)}
    assert {name for name, samples in exposed.families().items() if samples} <= set(families)


def test_metrics__each_metric__is_declared_and_has_samples(exposed: Exposed) -> None:
    families = exposed.families()
    assert set(families) == {metric.family for metric in DECLARED}
    assert all(families.values())


def test_labels__each_label__has_a_declared_value(exposed: Exposed) -> None:
    families = exposed.families()
    for metric in DECLARED:
        for sample in families[metric.family]:
            bounded = {name: value for name, value in sample.labels.items() if name != "le"}
            assert _has_declared_values(bounded, metric.labels), sample


def _has_declared_values(labels: dict[str, str], declared: Labels) -> bool:
    allowed = {name: OPEN[name] if values is None else values for name, values in declared.items()}
    return labels.keys() == allowed.keys() and all(value in allowed[name] for name, value in labels.items())


def test_labels__each_label__contains_no_name_of_a_person_or_thing(
    client: httpx.Client, exposed: Exposed
) -> None:
    names = _names(client)
    assert {"alice", "kernel-qe", "lab.east.example.com", "x86-01.east.example.com"} <= names
    used = {
        value
        for sample in exposed.samples()
        if sample.name != MAY_NAME_A_LAB
        for name, value in sample.labels.items()
        if name != "le"
    }
    assert used.isdisjoint(names)


def _names(client: httpx.Client) -> set[str]:
    """Return the names of systems, users, groups, pools and labs, and the ids of jobs and recipes."""

    def listed(path: str, key: str, name: str) -> set[str]:
        rows: list[dict[str, Any]] = client.get(path, params={"limit": 1000}).json()[key]
        return {str(row[name]) for row in rows}

    return {
        *listed("/systems", "systems", "fqdn"),
        *listed("/users", "users", "name"),
        *listed("/groups", "groups", "name"),
        *listed("/pools", "pools", "name"),
        *listed("/lab-controllers", "lab_controllers", "fqdn"),
        *listed("/jobs", "jobs", "job_id"),
        *listed("/queue", "recipes", "recipe_id"),
    }


def test_watchers__one_that_follows_the_events__is_counted(exposed: Exposed) -> None:
    assert exposed.value("labledger_watchers") == 1


def test_requests__a_made_up_method__is_no_label(client: httpx.Client) -> None:
    client.request("PURGE", "/jobs")
    assert "PURGE" not in read(client).text


ALERTS = (RULES / "alerts.yml").read_text()
UNIT_TESTS = TOP / "tests" / "prometheus" / "alerts_test.yml"


def test_alert_rules__checked_by_promtool__are_valid() -> None:
    status, said = promtool("check", "rules", "--lint-fatal", str(RULES / "alerts.yml"))
    assert status == 0, said


def test_alert_rules__on_made_up_series__fire_where_they_must() -> None:
    status, said = promtool("test", "rules", str(UNIT_TESTS))
    assert status == 0, said


def test_alert_rules__each_rule__has_a_test_in_which_it_fires() -> None:
    fires = re.findall(r"alertname: (\w+)\n +exp_alerts:\n", UNIT_TESTS.read_text())
    assert sorted(fires) == sorted(re.findall(r"- alert: (\w+)", ALERTS))


def test_alert_rules__each_rule__names_its_section_of_the_docs() -> None:
    rules = yaml.safe_load(ALERTS)["groups"][0]["rules"]
    headings = re.findall(r"^### (\w+)$", (TOP / "docs" / "alerts.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(headings) == sorted(rule["alert"] for rule in rules)
    for rule in rules:
        assert rule["annotations"]["runbook"] == f"docs/alerts.md#{rule['alert'].lower()}"


def test_alert_rules__buckets_in_them__are_bounds_of_the_histogram() -> None:
    found = re.findall(r'labledger_(\w+)_bucket\{le="([\d.]+)"\}', ALERTS)
    bounds = {metric.name: metric.bounds for metric in DECLARED}
    assert found and all(float(limit) in bounds[name] for name, limit in found)


def test_alert_rules__metrics_in_them__exist(exposed: Exposed) -> None:
    named = set(re.findall(r"\blabledger_\w+", ALERTS))
    assert named and named <= {sample.name for sample in exposed.samples()}
