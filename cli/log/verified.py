"""What `labledger replay verify` has found, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Found = Mapping[str, Any]


def is_sound(found: Found) -> bool:
    """Nothing was found, and nothing was left out that the present policy decided."""
    wrong = ("failed", "different", "unchecked", "mended", "broken")
    answers = [*found["hash_seeds"].values(), found["audit"]]
    return not any(answer.get(name) for answer in answers for name in wrong)


def lines(found: Found) -> list[str]:
    return [*_made_again(found["hash_seeds"]), *_audited(found["audit"])]


def _made_again(answers: Found) -> list[str]:
    """Both found the same, mostly: then it is said once."""
    first, *others = answers.values()
    if all(other == first for other in others):
        return [
            *_decisions(first),
            f"found by each of {len(answers)} processes, which differ in PYTHONHASHSEED",
        ]
    return [
        line
        for seed, answer in answers.items()
        for line in (f"with PYTHONHASHSEED={seed}:", *_decisions(answer))
    ]


def _decisions(answer: Found) -> list[str]:
    if "failed" in answer:
        return [f"decisions are not made again: {answer['failed']}"]
    told = [line for difference in answer["differences"] for line in _difference(difference)]
    told.append(
        f"{answer['decisions']} decisions in {answer['commits']} commits up to position {answer['position']}:"
        f" {answer['different'] or 'none'} otherwise than the policy demands"
    )
    if hidden := answer["different"] - len(answer["differences"]):
        told.append(f"{hidden} more differences are not shown")
    if answer["unchecked"]:
        told.append(f"{answer['unchecked']} were not checked: they rest on a basis too far behind them")
    if answer["mended"]:
        told.append(f"{answer['mended']} gave away a system that was idle although somebody wanted it")
    return told + _of_other_policies(answer, "not made again")


def _of_other_policies(answer: Found, what: str) -> list[str]:
    return [
        f"{count} of policy {version}, which has other rules: {what}"
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
        *_decision("demanded", difference["demanded"]),
    ]


def _decision(word: str, decision: Found | None) -> list[str]:
    if decision is None:
        return [f"  {word}: nothing"]
    events = [f"    {event['subject']} {event['topic']} {event['data']}" for event in decision["events"]]
    return [f"  {word}, because of {decision['cause']}:", *events]


def _audited(answer: Found) -> list[str]:
    if "failed" in answer:
        return [f"the rules are not held against it: {answer['failed']}"]
    told = [line for violation in answer["violations"] for line in _violation(violation)]
    if hidden := answer["broken"] - len(answer["violations"]):
        told.append(f"{hidden} more violations are not shown")
    broken = ", ".join(f"{name} {count}" for name, count in answer["by_invariant"].items())
    told.append(
        f"all {answer['commits']} commits held against the rules, by code that shares nothing with the"
        f" scheduler: {f'broken are {broken}' if broken else 'none is broken'}"
    )
    return told + _of_other_policies(answer, "who they went to is not judged")


def _violation(violation: Found) -> list[str]:
    where = ", ".join(map(str, violation["positions"]))
    return [f"position {where}: {violation['invariant']}", *_about(violation)]


def _about(violation: Found) -> list[str]:
    return [f"  {', '.join(violation['subjects'])}", f"  {violation['what']}"]
