"""The report of `labledger replay verify`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cli.terminal.wording import counted

Found = Mapping[str, Any]


def is_sound(found: Found) -> bool:
    """Return whether every decision of the present policy was checked, without a finding."""
    wrong = ("failed", "different", "unchecked", "mended", "broken")
    answers = [*found["hash_seeds"].values(), found["audit"]]
    return not any(answer.get(name) for answer in answers for name in wrong)


def lines(found: Found) -> list[str]:
    """Return all findings, then the summary, then the extent of the verification."""
    answers = found["hash_seeds"]
    first, *others = answers.values()
    if all(other == first for other in others):
        findings, summaries = _of_decisions(first), [_summary(first)]
    else:
        findings = [
            line
            for seed, answer in answers.items()
            for line in (f"with PYTHONHASHSEED={seed}:", *_of_decisions(answer))
        ]
        summaries = [f"with PYTHONHASHSEED={seed} {_summary(answer)}" for seed, answer in answers.items()]
    audit = found["audit"]
    return [*findings, *_of_audit(audit), *summaries, _audit_summary(audit), *_extent(first, len(answers))]


def _extent(answer: Found, processes: int) -> list[str]:
    if "failed" in answer:
        return []
    how = f"decisions recomputed by {processes} processes with different PYTHONHASHSEED"
    return [f"up to position {answer['position']}; {how}"]


def _summary(answer: Found) -> str:
    if "failed" in answer:
        return f"decisions could not be recomputed: {answer['failed']}"
    different = answer["different"]
    differ = f"{different} {'differs' if different == 1 else 'differ'}" if different else "all match"
    return f"{counted(answer['decisions'], 'decision')} recomputed, {differ}"


def _of_decisions(answer: Found) -> list[str]:
    if "failed" in answer:
        return []
    findings = [line for difference in answer["differences"] for line in _difference(difference)]
    if hidden := answer["different"] - len(answer["differences"]):
        findings.append(f"{hidden} more differences are not shown")
    if answer["unchecked"]:
        findings.append(
            f"{counted(answer['unchecked'], 'decision')} not checked: the basis is too far behind"
        )
    if answer["mended"]:
        late = counted(answer["mended"], "decision")
        findings.append(f"{late} of the consistency loop granted an idle system that a recipe wanted before")
    return findings + _of_other_policies(answer, "not recomputed")


def _of_other_policies(answer: Found, what: str) -> list[str]:
    return [
        f"{counted(count, 'decision')} of policy {version}, which has other rules: {what}"
        for version, count in answer["other_policies"].items()
    ]


def _difference(difference: Found) -> list[str]:
    head = (
        f"position {difference['position']}, decision {difference['number']},"
        f" on basis {difference['basis']} at {difference['now']}"
    )
    return [
        head,
        *_decision("recorded", difference["recorded"]),
        *_decision("expected", difference["demanded"]),
    ]


def _decision(word: str, decision: Found | None) -> list[str]:
    if decision is None:
        return [f"  {word}: nothing"]
    events = [f"    {event['subject']} {event['topic']} {event['data']}" for event in decision["events"]]
    return [f"  {word}, cause {decision['cause']}:", *events]


def _audit_summary(answer: Found) -> str:
    if "failed" in answer:
        return f"commits could not be checked: {answer['failed']}"
    violated = ", ".join(f"{name} {count}" for name, count in answer["by_invariant"].items())
    return (
        f"{counted(answer['commits'], 'commit')} checked by an independent implementation,"
        f" {f'violations: {violated}' if violated else 'no violations'}"
    )


def _of_audit(answer: Found) -> list[str]:
    if "failed" in answer:
        return []
    findings = [line for violation in answer["violations"] for line in _violation(violation)]
    if hidden := answer["broken"] - len(answer["violations"]):
        findings.append(f"{hidden} more violations are not shown")
    return findings + _of_other_policies(answer, "grants not checked")


def _violation(violation: Found) -> list[str]:
    where = ", ".join(map(str, violation["positions"]))
    return [f"position {where}: {violation['invariant']}", *_about(violation)]


def _about(violation: Found) -> list[str]:
    return [f"  {', '.join(violation['subjects'])}", f"  {violation['what']}"]
