"""The report of `labledger replay verify`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cli.terminal.wording import counted
from domain.partition_numbers import DEFAULT_PARTITION

Result = Mapping[str, Any]
"""The result of the verification, or a part of it, as `--json` prints it."""

# Counts of findings: `mended` for decisions that only the consistency loop made, `broken` for violations.
FINDINGS = ("failed", "different", "unchecked", "mended", "broken")


def is_sound(result: Result) -> bool:
    """Return whether every decision of the present policy version was checked, without a finding."""
    parts = [*result["hash_seeds"].values(), result["audit"]]
    return not any(part.get(name) for part in parts for name in FINDINGS)


def report_lines(result: Result) -> list[str]:
    """Return all findings, then the summaries, then the position up to which the log was verified.

    Findings and summaries of the recomputing processes are one if they are equal, otherwise one per process.
    """
    by_seed = result["hash_seeds"]
    first, *others = by_seed.values()
    if all(other == first for other in others):
        findings, summaries = _decision_findings(first), _decision_summaries(first)
    else:
        findings = [
            line
            for seed, part in by_seed.items()
            for line in (f"with PYTHONHASHSEED={seed}:", *_decision_findings(part))
        ]
        summaries = [
            f"with PYTHONHASHSEED={seed} {line}"
            for seed, part in by_seed.items()
            for line in _decision_summaries(part)
        ]
    audit = result["audit"]
    return [
        *findings,
        *_audit_findings(audit),
        *summaries,
        _audit_summary(audit),
        *_extent(first, len(by_seed)),
    ]


def _extent(part: Result, process_count: int) -> list[str]:
    if "failed" in part:
        return []
    processes = f"decisions recomputed by {process_count} processes with different PYTHONHASHSEED"
    return [f"up to position {part['position']}; {processes}"]


def _decision_summaries(part: Result) -> list[str]:
    """Return the summary of all partitions, then one for each if there are several."""
    if "failed" in part:
        return [f"decisions could not be recomputed: {part['failed']}"]
    partitions = part["partitions"] if len(part["partitions"]) > 1 else []
    return [
        _decision_summary(part),
        *(f"  partition {_named(each)}: {_decision_summary(each)}" for each in partitions),
    ]


def _named(partition: Result) -> str:
    """Return the name of a partition with its number, because a name may have been used again."""
    return f"{partition['name']} ({partition['number']})"


def _decision_summary(part: Result) -> str:
    different = part["different"]
    differ = f"{different} {'differs' if different == 1 else 'differ'}" if different else "all match"
    return f"{counted(part['decisions'], 'decision')} recomputed, {differ}"


def _decision_findings(part: Result) -> list[str]:
    if "failed" in part:
        return []
    findings = [line for difference in part["differences"] for line in _difference(difference)]
    if hidden := part["different"] - len(part["differences"]):
        findings.append(f"{hidden} more differences are not shown")
    if part["unchecked"]:
        from replay.verify.recomputation import MAX_EVENTS_AHEAD

        unchecked, limit = counted(part["unchecked"], "decision"), f"{MAX_EVENTS_AHEAD:,}"
        findings.append(f"{unchecked} not checked: more than {limit} events between basis and commit")
    if part["mended"]:
        late = counted(part["mended"], "decision")
        findings.append(f"{late} granted late: the scheduler had missed an idle system (report this)")
    return findings + _other_policies(part, "not recomputed")


def _other_policies(part: Result, consequence: str) -> list[str]:
    return [
        f"{counted(count, 'decision')} of policy version {version}, which has other rules: {consequence}"
        for version, count in part["other_policies"].items()
    ]


def _difference(difference: Result) -> list[str]:
    head = f"position {difference['position']}, decision {difference['number']}"
    partition = difference["partition"]
    decided_by = "" if partition == DEFAULT_PARTITION.name else f" of partition {partition}"
    return [
        f"{head}{decided_by}, on basis {difference['basis']} at {difference['now']}",
        *_decision("recorded", difference["recorded"]),
        *_decision("expected", difference["demanded"]),
    ]


def _decision(heading: str, decision: Result | None) -> list[str]:
    if decision is None:
        return [f"  {heading}: no decision"]
    events = [f"    {event['subject']} {event['topic']} {event['data']}" for event in decision["events"]]
    return [f"  {heading}, cause {decision['cause']}:", *events]


def _audit_summary(part: Result) -> str:
    if "failed" in part:
        return f"commits could not be checked: {part['failed']}"
    violated = ", ".join(f"{name} {count}" for name, count in part["by_invariant"].items())
    return (
        f"{counted(part['commits'], 'commit')} checked by an independent implementation,"
        f" {f'violations: {violated}' if violated else 'no violations'}"
    )


def _audit_findings(part: Result) -> list[str]:
    if "failed" in part:
        return []
    findings = [line for violation in part["violations"] for line in _violation(violation)]
    if hidden := part["broken"] - len(part["violations"]):
        findings.append(f"{hidden} more violations are not shown")
    return findings + _other_policies(part, "grants not checked")


def _violation(violation: Result) -> list[str]:
    where = ", ".join(map(str, violation["positions"]))
    subjects = ", ".join(violation["subjects"])
    return [f"position {where}: {violation['invariant']}", f"  {subjects}", f"  {violation['what']}"]
