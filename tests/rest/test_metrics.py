"""`/metrics` beside what the API itself tells of the same lab."""

from __future__ import annotations

import httpx
from prometheus_client.parser import text_string_to_metric_families as text_families

Found = dict[tuple[str, frozenset[tuple[str, str]]], float]
OPENMETRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}


def scraped(client: httpx.Client) -> Found:
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_families(answer.text)
        for sample in family.samples
    }


def value(found: Found, name: str, **labels: str) -> float:
    return found[f"labledger_{name}", frozenset(labels.items())]


def test_metrics__systems__by_what_they_do_now(client: httpx.Client) -> None:
    systems = client.get("/systems", params={"limit": 1000}).json()["systems"]
    found = scraped(client)
    for condition in ("Automated", "Manual", "Broken", "Removed"):
        for usage in ("idle", "running"):
            has = sum((s["condition"], s["usage"]) == (condition, usage) for s in systems)
            assert value(found, "systems", condition=condition, usage=usage) == has
    assert value(found, "systems", condition="Broken", usage="idle") == 1


def test_metrics__nothing_to_do__states_are_there_at_nought(client: httpx.Client) -> None:
    found = scraped(client)
    assert value(found, "recipes", state="queued") == value(found, "oldest_unplaced_seconds") == 0
    assert value(found, "tailer_backstop_finds_total", process="serve") == 0
    assert value(found, "scheduler_active") == 1
