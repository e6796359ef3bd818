"""The answer of `/metrics` once every metric has a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from api.metrics.declarations import COUNTERS, DURATIONS, GAUGES, HISTOGRAMS
from api.rest.middleware.access_log import METHODS, OTHER
from api.rest.routes import ROUTES
from tests.harness.waiting import wait_until

DECLARED = (*GAUGES, *DURATIONS.values(), *COUNTERS, *HISTOGRAMS)
# Metrics that stay at 0 without a fault of the database, of the lab or of watchers.
AT_ZERO = {
    *("labledger_append_retries", "labledger_append_conflicts", "labledger_scheduler_conflicts"),
    *("labledger_tailer_backstop_finds", "labledger_tailer_reconnects", "labledger_consistency_findings"),
    *("labledger_conservation_violations", "labledger_scheduler_foreign_events"),
    *("labledger_scheduler_commits_reread", "labledger_consistency_withheld_turns"),
    *("labledger_lab_controller_silent", "labledger_provisioning_failure_seconds"),
    *("labledger_watching_cut", "labledger_watching_refused"),
    *("labledger_projector_lag_events", "labledger_projector_lag_seconds"),
    *("labledger_notifications", "labledger_notifications_too_old", "labledger_notification_attempts"),
    *("labledger_notifier_lag_events", "labledger_notification_backlog_seconds"),
    *("labledger_ldap_sync_failed", "labledger_ldap_sync_age_seconds"),
}

# The values of those labels that are declared as open.
OPEN = {
    "method": {*METHODS, OTHER},
    "route": {*(re.sub(r":[^}]*(?=\})", "", path) for path in ROUTES), OTHER},
    "status": {"1xx", "2xx", "3xx", "4xx", "5xx"},
    "projector": {"all"},
    "partition": {"default"},
    "lab_controller": {"lab.east.example.com", "lab.west.example.com"},
}


@dataclass(frozen=True)
class Exposed:
    text: str

    def families(self) -> dict[str, list[Sample]]:
        """Return the samples by the declared name, without the suffix of counters."""
        return {family.name: family.samples for family in text_string_to_metric_families(self.text)}

    def samples(self) -> Iterator[Sample]:
        for samples in self.families().values():
            yield from samples

    def value(self, name: str, **labels: str) -> float:
        (found,) = (one.value for one in self.samples() if (one.name, one.labels) == (name, labels))
        return found

    def at_zero(self) -> set[str]:
        """Return the metrics that have no value or 0."""
        families = self.families()
        return {one.family for one in DECLARED if not any(s.value for s in families.get(one.family, ()))}


def read(client: httpx.Client) -> Exposed:
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    return Exposed(answer.text)


def everything(client: httpx.Client) -> Exposed:
    """Wait until every metric has a value; processes write their counts every two seconds."""
    wait_until(lambda: read(client).at_zero() <= AT_ZERO, "every metric to have a value")
    return read(client)
