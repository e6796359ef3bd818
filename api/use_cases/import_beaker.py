"""Import of Beaker's CSV files: systems in one commit for each partition, groups in another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple

import orjson

from api.intake.beaker_csv import BeakerRow
from api.intake.line_faults import GroupedFaults, grouped
from api.use_cases.beaker_decision import BeakerDecision, Outcome
from api.use_cases.beaker_edits import by_group, by_system
from api.use_cases.beaker_groups import KIND, decide_groups
from api.use_cases.beaker_systems import Systems, decide_systems
from api.use_cases.commit import append_for, commit, reflected_if_soon
from api.use_cases.idempotency import item_request, items_done_before, require_same
from api.use_cases.many_systems import CollectedErrors
from api.use_cases.ports import EventParts, RequestContext
from api.use_cases.put_document import StaleReferences, remove_stale_references
from domain.errors import Fault, FaultyInput, LabledgerError
from domain.system.differences import PropertyDifference
from postgres.errors import DatabaseAway
from store.requests import AppendRequest, Committed

# The number of the commit of groups, beside those of partitions, which are not negative.
GROUPS: Final = -1
# The number of systems whose lab is in no partition.
NO_PARTITION: Final = 0
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
class BeakerImported:
    """Outcomes of systems by fqdn and of groups by name; `position` of the last commit, if any."""

    systems: Mapping[str, SystemOutcome]
    groups: Outcomes
    position: int | None = None


async def import_beaker(parts: EventParts, request: RequestContext, given: BeakerInput) -> BeakerImported:
    """Import systems and groups; nothing is stored unless all of it is possible.

    Under an Idempotency-Key, parts that were committed before get their first outcomes. Raises FaultyInput
    with all faults, else NotPermitted or Refused; then the error of the commit of groups, which is the first
    one, or that of a partition if no commit succeeded.
    """
    done = await _done_before(parts, request)
    await parts.feed.catch_up()
    plan = await asyncio.to_thread(_plan, parts, request, given, done)
    if plan.groups:
        done[GROUPS] = await _commit_groups(parts, item_request(request, GROUPS), plan.groups)
    answers: dict[str, SystemOutcome] = {}
    for number, systems in plan.partitions.items():
        decide = partial(_decide_systems, parts, request, systems, given.added_at)
        try:
            committed = await _commit(parts, item_request(request, number), decide)
            done[number] = committed.after(done.get(number))
        except LabledgerError as error:
            answers |= dict.fromkeys(systems, error)
    # The same request may have arrived twice concurrently, and the other one may have made the changes. If
    # the database is away, the answer still says which commits succeeded.
    with suppress(DatabaseAway):
        for number, committed in (await _done_before(parts, request)).items():
            done[number] = committed.after(done.get(number))
    positions = [each.position for each in done.values() if each.position is not None]
    groups = done.pop(GROUPS, _DoneCommit({})).outcomes
    for each in done.values():
        answers |= each.outcomes
    errors = [answer for answer in answers.values() if isinstance(answer, LabledgerError)]
    if errors and not groups and len(errors) == len(answers):
        raise errors[0]
    # In a thread: hundreds of thousands of rows take longer than other requests may wait.
    in_order = await asyncio.to_thread(by_system, given.rows)
    ordered = {fqdn: answers[fqdn] for fqdn in in_order}
    return BeakerImported(ordered, groups, max(positions, default=None))


async def preview_beaker(parts: EventParts, request: RequestContext, given: BeakerInput) -> BeakerImported:
    """Return the outcomes that the import would have. Raises the errors of `import_beaker`."""
    await parts.feed.catch_up()
    plan = await asyncio.to_thread(_plan, parts, request, given, {})
    return BeakerImported(plan.system_outcomes, plan.group_outcomes)


@dataclass(frozen=True)
class _DoneCommit:
    """The outcomes of a commit; `position` is None if it had nothing to change."""

    outcomes: Outcomes
    position: int | None = None

    def after(self, earlier: _DoneCommit | None) -> _DoneCommit:
        """Return this commit with the outcomes that only the earlier one has."""
        if earlier is None:
            return self
        position = earlier.position if self.position is None else self.position
        return _DoneCommit({**earlier.outcomes, **self.outcomes}, position)


@dataclass(frozen=True)
class _Plan:
    """The valid rows that are not committed yet, by group and by partition, and their outcomes."""

    groups: Systems = field(default_factory=dict)
    partitions: Mapping[int, Systems] = field(default_factory=dict)
    group_outcomes: Outcomes = field(default_factory=dict)
    system_outcomes: Outcomes = field(default_factory=dict)


def _plan(
    parts: EventParts, request: RequestContext, given: BeakerInput, done: Mapping[int, _DoneCommit]
) -> _Plan:
    """Decide on everything that is not done. Blocking. Raises the errors of all rows."""
    fqdns = {fqdn for number, each in done.items() if number != GROUPS for fqdn in each.outcomes}
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


def _decide_systems(
    parts: EventParts, request: RequestContext, systems: Systems, added_at: str
) -> BeakerDecision:
    errors = CollectedErrors()
    decision, _ = decide_systems(parts, request, systems, added_at, errors)
    _require_none(errors)
    return decision


async def _commit_groups(parts: EventParts, request: RequestContext, groups: Systems) -> _DoneCommit:
    def decide() -> BeakerDecision:
        errors = CollectedErrors()
        decision = decide_groups(parts, request, groups, errors)
        _require_none(errors)
        if decision.stale:
            raise StaleReferences(KIND, decision.stale[0])
        return decision

    # Each turn removes the references to one group, and nobody can add more.
    for _ in groups:
        try:
            return await _commit(parts, request, decide)
        except StaleReferences as stale:
            await remove_stale_references(parts, request, stale.kind, stale.name)
    return await _commit(parts, request, decide)


async def _commit(
    parts: EventParts, request: RequestContext, decide: Callable[[], BeakerDecision]
) -> _DoneCommit:
    outcomes: Outcomes = {}

    def attempt() -> AppendRequest | None:
        nonlocal outcomes
        decision = decide()
        outcomes = decision.outcomes
        if not decision.decided:
            return None
        answer = _stored_form(outcomes)
        append = append_for(parts, request, decision.decided, decision.versions, answer)
        return replace(append, power=tuple(decision.power))

    done = await reflected_if_soon(parts, await commit(parts, lambda: asyncio.to_thread(attempt)))
    if done is None:
        return _DoneCommit(outcomes)
    if done.repeated:
        require_same(request, done)
        outcomes = {**outcomes, **await asyncio.to_thread(_stored_outcomes, done)}
    return _DoneCommit(outcomes, done.position)


async def _done_before(parts: EventParts, request: RequestContext) -> dict[int, _DoneCommit]:
    """Return the commits of earlier requests with the key. Raises FaultyInput as `require_same` does."""
    numbers: Collection[int] = (GROUPS, NO_PARTITION, *parts.feed.directory.partition_names)
    found = await items_done_before(parts.log, request, numbers)
    # In threads: reading the answer of thousands of systems takes longer than other requests may wait.
    return {
        number: _DoneCommit(await asyncio.to_thread(_stored_outcomes, done), done.position)
        for number, done in found.items()
    }


def _stored_form(outcomes: Outcomes) -> bytes:
    return orjson.dumps(
        {name: [one.outcome, [[*change] for change in one.changes]] for name, one in outcomes.items()}
    )


def _stored_outcomes(done: Committed) -> Outcomes:
    assert done.answer is not None, "the commits of this use case have an answer"
    stored: dict[str, Any] = orjson.loads(done.answer)
    return {
        name: Outcome(outcome, [PropertyDifference(*change) for change in changes])
        for name, (outcome, changes) in stored.items()
    }
