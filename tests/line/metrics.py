"""`/metrics` as Prometheus reads it."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from tests.harness.running import Running

Sample = tuple[str, frozenset[tuple[str, str]]]


def scraped(line: Running) -> dict[Sample, float]:
    with line.client() as client:
        answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def findings(line: Running) -> dict[str, float]:
    """What the consistency loop found, by name, whichever scheduler it was in."""
    return {
        dict(labels)["finding"]: value
        for (name, labels), value in scraped(line).items()
        if name == "labledger_consistency_findings_total"
    }
