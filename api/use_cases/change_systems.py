"""Change of the condition and draining of many systems, in one commit for each partition."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import orjson

from api.use_cases.change_system import NewSystemValues, decide_change
from api.use_cases.commit import append_for
from api.use_cases.idempotency import item_request
from api.use_cases.many_systems import CollectedErrors, TentativeStates, used_subjects
from api.use_cases.partition_commits import (
    Item,
    ItemDecision,
    commit_items,
    done_before,
    last_position,
    merged_answers,
    require_a_success,
)
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.resolve import present_system
from api.use_cases.system_rights import require_may_change
from domain.directory.partitions import number_of_lab
from domain.errors import Fault, LabledgerError, Refused, Unknown, unknown_name
from domain.events import Decided

SystemAnswer = bool | LabledgerError
"""Whether the system was changed, or the error of the commit of its partition."""


@dataclass(frozen=True)
class ChangedSystems:
    """The answers by fqdn, and the position of the last commit, None without one."""

    answers: Mapping[str, SystemAnswer]
    position: int | None


async def change_systems(
    parts: WriteParts, request: RequestContext, fqdns: Sequence[str], change: NewSystemValues
) -> ChangedSystems:
    """Change systems, in one commit for each partition; nothing is stored unless all changes are possible.

    Under an Idempotency-Key, systems that were committed before get their first answer. Raises FaultyInput,
    NotPermitted or Refused with the errors of all systems, and the error of a partition if no commit
    succeeded.
    """
    before = await done_before(parts, request, orjson.loads)
    answered = merged_answers(before.values())
    numbered = [(number, fqdn) for number, fqdn in enumerate(fqdns) if fqdn not in answered]
    await parts.feed.catch_up()
    validated = await asyncio.to_thread(_decide, parts, request, numbered, change)
    items = {
        number: Item(
            [fqdn for _, fqdn in systems], partial(_decide_partition, parts, request, number, systems, change)
        )
        for number, systems in validated.systems.items()
    }
    done = await commit_items(parts, request, before, items, orjson.loads)
    answers = merged_answers(done.values())
    require_a_success(answers)
    return ChangedSystems({fqdn: answers[fqdn] for fqdn in fqdns}, last_position(done.values()))


async def preview_changes(
    parts: WriteParts, request: RequestContext, fqdns: Sequence[str], change: NewSystemValues
) -> ChangedSystems:
    """Return the answers that `change_systems` would give. Raises its errors."""
    await parts.feed.catch_up()
    validated = await asyncio.to_thread(_decide, parts, request, [*enumerate(fqdns)], change)
    return ChangedSystems(validated.changed, None)


def _decide_partition(
    parts: WriteParts,
    request: RequestContext,
    partition: int,
    systems: Sequence[tuple[int, str]],
    change: NewSystemValues,
) -> ItemDecision[bool]:
    decision = _decide(parts, request, systems, change)
    if [*decision.systems] != [partition]:
        raise Refused("labs of these systems moved to another partition meanwhile; repeat the request")
    if not decision.decided:
        return ItemDecision(decision.changed, None)
    item = item_request(request, partition)
    answer = orjson.dumps(decision.changed)
    append = append_for(parts, item, decision.decided, decision.versions, answer)
    return ItemDecision(decision.changed, append)


@dataclass
class BatchDecision:
    """The events of a change of many systems, the versions that they used, and the changed systems.

    `systems` are the numbers and names of the systems by the number of their partition.
    """

    decided: Decided = field(default_factory=list)
    versions: dict[str, int] = field(default_factory=dict)
    changed: dict[str, bool] = field(default_factory=dict)
    systems: dict[int, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))


def _decide(
    parts: WriteParts, request: RequestContext, systems: Sequence[tuple[int, str]], change: NewSystemValues
) -> BatchDecision:
    """Return the decisions on all systems, each with its number in the request. Blocking.

    Raises FaultyInput for unknown and hidden systems, else NotPermitted, else Refused.
    """
    directory = parts.feed.directory
    states = TentativeStates(parts.aggregates.gather(f"system/{fqdn}" for _, fqdn in systems))
    errors, decision = CollectedErrors(), BatchDecision()
    for number, fqdn in systems:
        try:
            before = present_system(states.gathered, fqdn)
            # Read before the decision, so that a later change is a conflict.
            subjects = used_subjects(directory, request, before)
            versions = {subject: directory.version(subject) for subject in subjects}
            with errors.collecting():
                require_may_change(directory, request, before)
                system = present_system(states.now, fqdn)
                decided, _ = decide_change(directory, states.now, system, change)
                decision.changed[fqdn] = bool(decided)
                decision.systems[number_of_lab(directory, before.lab_controller)].append((number, fqdn))
                if decided:
                    decision.versions |= {**versions, **states.used_versions(before, change)}
                    decision.decided += decided
                    states.apply(decided)
        except Unknown:
            errors.faults.append(Fault(f"systems[{number}]", unknown_name("system", fqdn)))
    errors.require_none()
    return decision
