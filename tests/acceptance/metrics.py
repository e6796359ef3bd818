"""`/metrics` as Prometheus reads it."""

from __future__ import annotations

from typing import Protocol

import httpx
from prometheus_client.parser import text_string_to_metric_families

IMPOSSIBLE = ("out_of_step", "idle_but_wanted", "lock_overlooked", "end_overlooked", "room_overlooked")

Sample = tuple[str, frozenset[tuple[str, str]]]


class HasClient(Protocol):
    """A service that has clients."""

    def client(self) -> httpx.Client: ...


def scraped(service: HasClient) -> dict[Sample, float]:
    with service.client() as client:
        answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def findings(service: HasClient) -> dict[str, float]:
    """Return the counts of the consistency loop's findings by name."""
    return {
        dict(labels)["finding"]: value
        for (name, labels), value in scraped(service).items()
        if name == "labledger_consistency_findings_total"
    }


def impossible_findings(service: HasClient) -> list[str]:
    """Return those findings that a correct scheduler never produces."""
    found = findings(service)
    return [f"the consistency loop found {name}" for name in IMPOSSIBLE if found.get(name, 0)]
