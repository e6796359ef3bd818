"""`/metrics` as Prometheus reads it."""

from __future__ import annotations

from typing import Protocol

import httpx
from prometheus_client.parser import text_string_to_metric_families

IMPOSSIBLE = ("out_of_step", "idle_but_wanted")

Sample = tuple[str, frozenset[tuple[str, str]]]


class HasClient(Protocol):
    """Something that is reached over HTTP."""

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
    """What the consistency loop found, by name, whichever scheduler it was in."""
    return {
        dict(labels)["finding"]: value
        for (name, labels), value in scraped(service).items()
        if name == "labledger_consistency_findings_total"
    }


def impossible_findings(service: HasClient) -> list[str]:
    """What was found of that which never happens."""
    found = findings(service)
    return [f"the consistency loop found {name}" for name in IMPOSSIBLE if found.get(name, 0)]
