"""Job filters: rules of admins, which admit recipe sets, hold them back, cancel them or limit their number.

    {"priority": 0, "predicate": {...}, "action": "RATE_LIMIT", "limit": 5, "reason": "one storage array"}

Only `action` is required. The default of `priority` is 0; without a `predicate`, or with null, the filter
matches all sets. `limit` is for RATE_LIMIT, which requires it; null has the effect of no `limit`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from domain.admission.predicates import (
    Predicate,
    SetFacts,
    matcher,
    predicate_from_json,
    predicate_to_json,
)
from domain.contention.documents import raising
from domain.document_checks import MAX_ID, fields_of, one_of, read_value, text, whole, without_faults
from domain.requirements.findings import Path, Report

# The set may start, whatever later filters say.
ACCEPT: Final = "ACCEPT"
# The filter has no effect: a filter that is switched off, or tried out.
CONTINUE: Final = "CONTINUE"
# The set waits until the filter no longer applies.
PAUSE: Final = "PAUSE"
# The set is cancelled unless it holds a system.
REJECT: Final = "REJECT"
# The set waits while `limit` sets to which this filter applies hold systems or have started.
RATE_LIMITED: Final = "RATE_LIMIT"

ACTIONS: Final = (ACCEPT, CONTINUE, PAUSE, REJECT, RATE_LIMITED)

MAX_PRIORITY: Final = MAX_ID
MAX_REASON_LENGTH: Final = 4_096

_FIELDS: Final = ("priority", "predicate", "action", "limit", "reason")


@dataclass(frozen=True)
class JobFilter:
    """A rule. `watermark` is the last job id given out when its present content was put.

    A `predicate` of None matches all sets. Only RATE_LIMIT has a `limit`.
    """

    name: str
    priority: int
    watermark: int
    predicate: Predicate | None
    action: str
    limit: int | None = None
    reason: str = ""

    @property
    def place(self) -> tuple[int, int, str]:
        """Return the sort key: the lowest priority first, then the oldest watermark, then the name."""
        return self.priority, self.watermark, self.name

    @property
    def stated_reason(self) -> str:
        """Return the reason for the events of sets that the filter cancels; never an empty text."""
        return self.reason or f'job filter "{self.name}"'


class JobFilters:
    """The job filters of a partition in order, each with its compiled predicate. Immutable."""

    def __init__(self, filters: Iterable[JobFilter] = ()) -> None:
        self.ordered = tuple(sorted(filters, key=lambda job_filter: job_filter.place))
        # CONTINUE has no effect, so that its predicates need not be evaluated.
        self._effective = [
            (job_filter, matcher(job_filter.predicate, job_filter.watermark))
            for job_filter in self.ordered
            if job_filter.action != CONTINUE
        ]

    def applying(self, facts: SetFacts) -> JobFilter | None:
        """Return the first filter that matches and is not CONTINUE, None without one."""
        return next((job_filter for job_filter, matches in self._effective if matches(facts)), None)


def job_filter_from_json(
    filter_name: str, watermark: int, document: Any, path: Path, report: Report
) -> JobFilter | None:
    """Return the job filter of a document; report every fault, and return None if there is one."""
    return without_faults(lambda report: _read(filter_name, watermark, document, path, report), report)


def job_filter_to_json(job_filter: JobFilter) -> dict[str, Any]:
    """Return the canonical document, with all fields: equal for filters of equal content."""
    predicate = job_filter.predicate
    return {
        "priority": job_filter.priority,
        "predicate": None if predicate is None else predicate_to_json(predicate),
        "action": job_filter.action,
        "limit": job_filter.limit,
        "reason": job_filter.reason,
    }


def job_filter_to_stored(job_filter: JobFilter) -> dict[str, Any]:
    """Return the canonical document with the watermark, for the log."""
    return {**job_filter_to_json(job_filter), "watermark": job_filter.watermark}


def stored_job_filter(filter_name: str, stored: Mapping[str, Any]) -> JobFilter:
    """Return the job filter of a stored document; raise FaultyInput if it has a fault."""
    document = {field: value for field, value in stored.items() if field != "watermark"}
    return raising(lambda report: _read(filter_name, stored["watermark"], document, (filter_name,), report))


def _read(filter_name: str, watermark: int, document: Any, path: Path, report: Report) -> JobFilter:
    """Return the job filter of a document, with defaults in place of faulty parts."""
    given = fields_of(document, _FIELDS, path, report)
    form = given.get("predicate")
    predicate = None if form is None else predicate_from_json(form, (*path, "predicate"), report)
    priority = read_value(_priority, given.get("priority", 0), (*path, "priority"), report)
    reason = read_value(_reason, given.get("reason", ""), (*path, "reason"), report)
    action = None
    if "action" in given:
        action = read_value(one_of(*ACTIONS), given["action"], (*path, "action"), report)
    elif isinstance(document, Mapping):
        report((*path, "action"), f"is missing; must be one of {', '.join(ACTIONS)}")
    limit = _limit(given.get("limit"), action, (*path, "limit"), report)
    return JobFilter(
        filter_name, priority or 0, watermark, predicate, action or CONTINUE, limit, reason or ""
    )


def _limit(raw: Any, action: str | None, path: Path, report: Report) -> int | None:
    """Return the limit of RATE_LIMIT; report a limit of another action. An unknown action may have one."""
    if raw is None:
        if action == RATE_LIMITED:
            report(path, f"is missing: {RATE_LIMITED} needs a limit above 0")
        return None
    if action not in (None, RATE_LIMITED):
        report(path, f"is only for {RATE_LIMITED}")
    return read_value(lambda raw: whole(raw, 1, MAX_ID), raw, path, report)


def _priority(raw: Any) -> int:
    return whole(raw, 0, MAX_PRIORITY)


def _reason(raw: Any) -> str:
    if len(text(raw)) > MAX_REASON_LENGTH:
        raise ValueError(f"must not be longer than {MAX_REASON_LENGTH} characters")
    return text(raw)
