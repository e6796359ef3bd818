"""Import of Beaker's CSV files: systems in one commit for each partition, groups in another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple

import orjson

from api.intake.beaker_csv import BeakerRow
from api.intake.line_faults import GroupedFaults, grouped
from api.use_cases.beaker_decision import BeakerDecision, Outcome
from api.use_cases.beaker_edits import by_group, by_system
from api.use_cases.beaker_groups import KIND, decide_groups
from api.use_cases.beaker_systems import RowsByName, decide_systems
from api.use_cases.commit import append_for
from api.use_cases.idempotency import item_request
from api.use_cases.many_systems import CollectedErrors
from api.use_cases.partition_commits import (
    DoneCommit,
    DoneCommits,
    Item,
    ItemDecision,
    commit_item,
    commit_items,
    done_before,
    last_position,
    merged_answers,
    require_a_success,
)
from api.use_cases.ports import EventParts, RequestContext
from api.use_cases.put_document import StaleReferences, remove_stale_references
from domain.errors import Fault, FaultyInput, LabledgerError
from domain.system.differences import PropertyDifference

# The number of the commit of groups, beside those of partitions, which are not negative.
GROUPS: Final = -1
# The maximum number of systems of one import.
MAX_SYSTEMS: Final = 10_000

Outcomes = Mapping[str, Outcome]
SystemOutcome = Outcome | LabledgerError
"""The outcome of a system, or the error of the commit of its partition."""


class BeakerInput(NamedTuple):
    """The rows, the faults of reading them, and the time at which new systems are added."""

    rows: Sequence[BeakerRow]
    faults: GroupedFaults
    added_at: str


@dataclass(frozen=True)
class ImportResult:
    """Outcomes of systems by fqdn and of groups by name; `position` of the last commit, if any."""

    systems: Mapping[str, SystemOutcome]
    groups: Outcomes
    position: int | None = None


async def import_beaker(parts: EventParts, request: RequestContext, given: BeakerInput) -> ImportResult:
    """Import systems and groups; nothing is stored unless all of it is possible.

    Under an Idempotency-Key, parts that were committed before get their first outcomes. Raises FaultyInput
    with all faults, else NotPermitted or Refused; then the error of the commit of groups, which is the first
    one, or that of a partition if no commit succeeded.
    """
    before = await done_before(parts, request, _stored_outcomes, [GROUPS])
    await parts.feed.catch_up()
    plan = await asyncio.to_thread(_plan, parts, request, given, before)
    if plan.groups:
        before[GROUPS] = await _commit_groups(parts, request, plan.groups)
    items = {
        number: Item(systems, partial(_decide_partition, parts, request, number, systems, given.added_at))
        for number, systems in plan.partitions.items()
    }
    done = await commit_items(parts, request, before, items, _stored_outcomes, [GROUPS])
    position = last_position(done.values())
    of_groups = merged_answers([done.pop(GROUPS)] if GROUPS in done else [])
    groups = {name: outcome for name, outcome in of_groups.items() if isinstance(outcome, Outcome)}
    answers = merged_answers(done.values())
    if not groups:
        require_a_success(answers)
    # In a thread: hundreds of thousands of rows take longer than other requests may wait.
    in_order = await asyncio.to_thread(by_system, given.rows)
    ordered = {fqdn: answers[fqdn] for fqdn in in_order}
    return ImportResult(ordered, groups, position)


async def preview_beaker(parts: EventParts, request: RequestContext, given: BeakerInput) -> ImportResult:
    """Return the outcomes that the import would have. Raises the errors of `import_beaker`."""
    await parts.feed.catch_up()
    plan = await asyncio.to_thread(_plan, parts, request, given, {})
    return ImportResult(plan.system_outcomes, plan.group_outcomes)


@dataclass(frozen=True)
class _Plan:
    """The valid rows that are not committed yet, by group and by partition, and their outcomes."""

    groups: RowsByName = field(default_factory=dict)
    partitions: Mapping[int, RowsByName] = field(default_factory=dict)
    group_outcomes: Outcomes = field(default_factory=dict)
    system_outcomes: Outcomes = field(default_factory=dict)


def _plan(
    parts: EventParts, request: RequestContext, given: BeakerInput, done: DoneCommits[Outcome]
) -> _Plan:
    """Decide on everything that is not done. Blocking. Raises the errors of all rows."""
    fqdns = {fqdn for number, each in done.items() if number != GROUPS for fqdn in each.answers}
    systems = {fqdn: rows for fqdn, rows in by_system(given.rows).items() if fqdn not in fqdns}
    if len(systems) > MAX_SYSTEMS:
        raise FaultyInput([Fault("files", f"must not have more than {MAX_SYSTEMS} systems")])
    groups = {} if GROUPS in done else by_group(given.rows)
    errors = CollectedErrors()
    of_systems, partitions = decide_systems(parts, request, systems, given.added_at, errors)
    of_groups = decide_groups(parts, request, groups, errors)
    _require_none(errors, given.faults)
    return _Plan(groups, partitions, of_groups.outcomes, of_systems.outcomes)


def _require_none(errors: CollectedErrors, of_reading: GroupedFaults | None = None) -> None:
    errors.faults = grouped(errors.faults, of_reading)
    errors.require_none()


def _decide_partition(
    parts: EventParts, request: RequestContext, partition: int, systems: RowsByName, added_at: str
) -> ItemDecision[Outcome]:
    errors = CollectedErrors()
    decision, _ = decide_systems(parts, request, systems, added_at, errors)
    _require_none(errors)
    return _item_decision(parts, item_request(request, partition), decision)


async def _commit_groups(
    parts: EventParts, request: RequestContext, groups: RowsByName
) -> DoneCommit[Outcome]:
    def decide() -> ItemDecision[Outcome]:
        errors = CollectedErrors()
        decision = decide_groups(parts, request, groups, errors)
        _require_none(errors)
        if decision.stale:
            raise StaleReferences(KIND, decision.stale[0])
        return _item_decision(parts, item_request(request, GROUPS), decision)

    # Each turn removes the references to one group, and nobody can add more.
    for _ in groups:
        try:
            return await commit_item(parts, request, GROUPS, decide, _stored_outcomes)
        except StaleReferences as stale:
            await remove_stale_references(parts, request, stale.kind, stale.name)
    return await commit_item(parts, request, GROUPS, decide, _stored_outcomes)


def _item_decision(
    parts: EventParts, item: RequestContext, decision: BeakerDecision
) -> ItemDecision[Outcome]:
    if not decision.decided:
        return ItemDecision(decision.outcomes, None)
    answer = _stored_form(decision.outcomes)
    append = append_for(parts, item, decision.decided, decision.versions, answer)
    return ItemDecision(decision.outcomes, replace(append, power=tuple(decision.power)))


def _stored_form(outcomes: Outcomes) -> bytes:
    return orjson.dumps(
        {name: [one.outcome, [[*change] for change in one.changes]] for name, one in outcomes.items()}
    )


def _stored_outcomes(answer: bytes) -> Outcomes:
    stored: dict[str, Any] = orjson.loads(answer)
    return {
        name: Outcome(outcome, [PropertyDifference(*change) for change in changes])
        for name, (outcome, changes) in stored.items()
    }
