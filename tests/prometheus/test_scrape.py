"""Metrics of a running service in a real Prometheus, compared with the API."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import httpx

from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.prometheus.busy_lab import MACHINES, QUEUED
from tests.prometheus.exposed import everything
from tests.prometheus.server import Labels, Prometheus


def test_prometheus__has_scraped__systems_as_in_the_api(scraper: Prometheus, client: httpx.Client) -> None:
    systems = client.get("/systems", params={"limit": 1000}).json()["systems"]
    expected = Counter((system["condition"], system["usage"]) for system in systems)
    found = scraper.values("labledger_systems > 0")
    assert {(dict(labels)["condition"], dict(labels)["usage"]): n for labels, n in found.items()} == expected


def test_prometheus__has_scraped__recipes_as_in_the_queue(scraper: Prometheus, client: httpx.Client) -> None:
    assert scraper.values("labledger_recipes > 0") == {
        frozenset({("state", "queued")}): QUEUED,
        frozenset({("state", "waiting")}): MACHINES,
    }
    assert len(client.get("/queue").json()["recipes"]) == QUEUED
    # One waits for a machine, one for the end of a job.
    assert scraper.values("labledger_unplaced_recipes > 0") == {
        frozenset({("reason", reason), ("priority", "Normal")}): 1
        for reason in ("no-idle-system", "dependency")
    }
    ((labels, oldest),) = scraper.values("labledger_oldest_unplaced_seconds > 0").items()
    assert dict(labels) == {"priority": "Normal"} and oldest > 0


def test_prometheus__has_scraped__one_duration_of_each_completed_recipe(scraper: Prometheus) -> None:
    for measure in ("wait", "provisioning", "execution"):
        counts = scraper.values(f"labledger_recipe_{measure}_seconds_count > 0")
        assert list(counts.values()) == [MACHINES]
    assert all(dict(labels) == {"priority": "Normal"} for labels in _waits(scraper))
    (slowest,) = scraper.values(
        "histogram_quantile(1, sum by (le) (labledger_recipe_wait_seconds_bucket))"
    ).values()
    assert 0 < slowest <= 60


def _waits(scraper: Prometheus) -> Mapping[Labels, float]:
    return scraper.values("labledger_recipe_wait_seconds_count > 0")


def test_prometheus__has_scraped__counts_of_appends_as_in_the_log(
    scraper: Prometheus, service: Running
) -> None:
    log = service.events()
    here: Labels = frozenset()
    counts = {
        "labledger_log_position": log[-1]["position"],
        "labledger_scheduler_events_total": sum(event["basis"] is not None for event in log),
        "labledger_append_events_total": sum(_is_of_a_request(event) for event in log),
        "labledger_projector_events_total": len(log),
    }
    for name, expected in counts.items():
        wait_until(partial(_is, scraper, name, {here: expected}), f"{name} to be {expected}")


def _is(scraper: Prometheus, name: str, expected: dict[Labels, float]) -> bool:
    return scraper.values(name) == expected


def _is_of_a_request(event: dict[str, Any]) -> bool:
    """Return whether a request appended the event; the first token is created before the API starts."""
    return event["basis"] is None and event["cause"] != "request/first-start"


def test_prometheus__scrapes_repeatedly__counts_its_own_requests(scraper: Prometheus) -> None:
    mine = 'labledger_http_requests_total{method="GET", route="/metrics", status="2xx"}'
    timed = 'labledger_http_request_seconds_count{method="GET", route="/metrics"}'
    wait_until(lambda: scraper.values(f"{mine} > 3"), "scrapes to be counted")
    assert scraper.values(timed)


def test_prometheus__alert_rules__are_evaluated_and_none_fires(scraper: Prometheus) -> None:
    def evaluated() -> bool:
        (group,) = scraper.ask("rules")["groups"]
        return all(rule["health"] == "ok" for rule in group["rules"])

    wait_until(evaluated, "the rules to be evaluated")
    # A late scrape makes an alert pending for a moment.
    wait_until(lambda: scraper.ask("alerts")["alerts"] == [], "no alert to be pending")


def test_metrics__read_directly__equal_those_in_prometheus(scraper: Prometheus, client: httpx.Client) -> None:
    def has(name: str) -> bool:
        exposed = {sample.value for sample in everything(client).samples() if sample.name == name}
        return bool(exposed) and set(scraper.values(name).values()) == exposed

    for name in ("labledger_projector_lag_events", "labledger_watchers", "labledger_scheduler_active"):
        wait_until(partial(has, name), f"{name} to be the same")
