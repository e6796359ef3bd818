"""Change of the condition and draining of many systems, in one commit for each partition."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import orjson

from api.use_cases.change_system import NewSystemValues, decide_change
from api.use_cases.commit import append_for, commit, reflected_if_soon
from api.use_cases.idempotency import item_request, items_done_before, require_same
from api.use_cases.many_systems import CollectedErrors, TentativeStates, used_subjects
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.resolve import present_system
from api.use_cases.system_rights import require_may_change
from domain.directory.partitions import number_of_lab
from domain.errors import Fault, LabledgerError, Refused, Unknown, unknown_name
from domain.events import Decided
from domain.partition_numbers import EVERYBODY
from postgres.errors import DatabaseAway
from store.requests import AppendRequest, Committed

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
    before = await _done_before(parts, request)
    numbered = [(number, fqdn) for number, fqdn in enumerate(fqdns) if fqdn not in before.answers]
    await parts.feed.catch_up()
    validated = await asyncio.to_thread(_decide, parts, request, numbered, change)
    commits = (
        _commit_partition(parts, request, number, systems, change)
        for number, systems in validated.systems.items()
    )
    found = [before, *await asyncio.gather(*commits)]
    if any(answer is not True for done in found for answer in done.answers.values()):
        # The same request may have arrived twice concurrently, and the other one may have made the change.
        # If the database is away, the answer still says which commits succeeded.
        with suppress(DatabaseAway):
            found.append(await _done_before(parts, request))
    answers = {fqdn: answer for done in found for fqdn, answer in done.answers.items()}
    errors = [answer for answer in answers.values() if isinstance(answer, LabledgerError)]
    if errors and len(errors) == len(answers):
        raise errors[0]
    positions = [done.position for done in found if done.position is not None]
    return ChangedSystems({fqdn: answers[fqdn] for fqdn in fqdns}, max(positions, default=None))


async def preview_changes(
    parts: WriteParts, request: RequestContext, fqdns: Sequence[str], change: NewSystemValues
) -> ChangedSystems:
    """Return the answers that `change_systems` would give. Raises its errors."""
    await parts.feed.catch_up()
    validated = await asyncio.to_thread(_decide, parts, request, [*enumerate(fqdns)], change)
    return ChangedSystems(validated.changed, None)


async def _done_before(parts: WriteParts, request: RequestContext) -> ChangedSystems:
    """Return the answers of earlier requests with the key. Raises FaultyInput as `require_same` does."""
    numbers = (EVERYBODY, *parts.feed.directory.partition_names)
    commits = (await items_done_before(parts.log, request, numbers)).values()
    answers = {fqdn: changed for done in commits for fqdn, changed in _stored_answer(done).items()}
    return ChangedSystems(answers, max((done.position for done in commits), default=None))


def _stored_answer(done: Committed) -> dict[str, bool]:
    assert done.answer is not None, "the commits of this use case have an answer"
    answer: dict[str, bool] = orjson.loads(done.answer)
    return answer


async def _commit_partition(
    parts: WriteParts,
    request: RequestContext,
    partition: int,
    systems: Sequence[tuple[int, str]],
    change: NewSystemValues,
) -> ChangedSystems:
    item = item_request(request, partition)

    def attempt() -> AppendRequest | None:
        decision = _decide(parts, request, systems, change)
        if [*decision.systems] != [partition]:
            raise Refused("labs of these systems moved to another partition meanwhile; repeat the request")
        if not decision.decided:
            return None
        answer = orjson.dumps(decision.changed)
        return append_for(parts, item, decision.decided, decision.versions, answer)

    try:
        done = await reflected_if_soon(parts, await commit(parts, lambda: asyncio.to_thread(attempt)))
    except LabledgerError as error:
        return ChangedSystems({fqdn: error for _, fqdn in systems}, None)
    unchanged = {fqdn: False for _, fqdn in systems}
    if done is None:
        return ChangedSystems(unchanged, None)
    if done.repeated:
        require_same(item, done)
    return ChangedSystems({**unchanged, **_stored_answer(done)}, done.position)


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
