"""`/metrics` as Prometheus reads it."""

from __future__ import annotations

from typing import Protocol

import httpx
from prometheus_client.parser import text_string_to_metric_families

IMPOSSIBLE = ("idle_but_wanted", "lock_overlooked", "end_overlooked", "room_overlooked")

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
    return _by_label(scraped(service), "labledger_consistency_findings_total", "finding")


def impossible_findings(service: HasClient) -> list[str]:
    """Return those findings and broken laws that a correct scheduler never produces."""
    samples = scraped(service)
    found = _by_label(samples, "labledger_consistency_findings_total", "finding")
    laws = _by_label(samples, "labledger_conservation_violations_total", "law")
    return [f"the consistency loop found {name}" for name in IMPOSSIBLE if found.get(name, 0)] + [
        f"the conservation law of {law} is broken" for law, count in laws.items() if count
    ]


def _by_label(samples: dict[Sample, float], metric: str, label: str) -> dict[str, float]:
    return {dict(labels)[label]: value for (name, labels), value in samples.items() if name == metric}
