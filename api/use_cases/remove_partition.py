"""Removal of partitions, with or without what is unfinished there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

from api.use_cases.commit import commit, commit_aggregates, require_expected, wait_until_reflected
from api.use_cases.extend_job import close_job
from api.use_cases.move_labs import append_with, moving
from api.use_cases.ports import JobParts, RequestContext
from api.use_cases.rights import require_admin
from domain.batches import batches
from domain.directory.events import PartitionRemoved
from domain.directory.partition_labs import labs_in, moves_from
from domain.directory.partition_states import require_removable
from domain.directory.partitions import existing_partition, partition_document, systems_of_lab
from domain.endings import with_reason
from domain.errors import Refused
from domain.events import Decided, subject
from domain.partition_numbers import PartitionIdentity
from domain.read_set import ReadSet
from domain.recipe.lifecycle import UNFINISHED
from domain.recipe_set.ending import abort_set
from domain.system_admin.reservation import end
from projections.reader import Reader
from store.requests import AppendRequest, Committed

# A set has at most some hundred recipes, so that a commit of this number stays small.
SETS_IN_A_COMMIT: Final = 50
READ_MODELS_SECONDS: Final = 20.0


class RemovalParts(JobParts, Protocol):
    """Parts to remove a partition, whose unfinished recipe sets are in the read models."""

    @property
    def reader(self) -> Reader: ...


class Removal(NamedTuple):
    """The commit of a removal, the number of sets aborted before it, and the labs in no partition now."""

    done: Committed | None
    aborted_sets_count: int
    labs: Sequence[str]


async def remove_partition(
    parts: RemovalParts, request: RequestContext, name: str, *, force: bool, reason: str | None = None
) -> Removal:
    """Remove a partition that is draining or stopped, and empty; its labs are in no partition then.

    Its open jobs are closed first: no scheduler would close them afterwards.
    With `force`, its unfinished recipes are aborted and the reservations of its systems end first, in several
    commits: a removal that is interrupted goes on when it is repeated. Their reasons contain that of the
    removal. Wait until the directory reflects it.
    Raises Unknown, Stale, Refused for `default` and for a partition that takes jobs or is not empty, and
    NotPermitted unless the caller is an admin.
    """
    require_admin(request, "remove a partition")
    await parts.feed.catch_up()
    partition = existing_partition(parts.feed.directory, name)
    _require_removable(parts, request, partition)
    # Labs come and go only with a change of the configuration.
    version = parts.feed.directory.version(partition.subject)
    labs = labs_in(parts.feed.directory, partition.number)
    # No job follows the event that ended the intake, which the directory has.
    unfinished = await _unfinished_sets(parts, partition)
    why = with_reason(f"partition {name} is removed", reason)
    if force:
        await _clear(parts, request, partition, unfinished, why)
    elif unfinished:
        count = f"{len(unfinished)} unfinished recipe set{'s' if len(unfinished) > 1 else ''}"
        advice = "wait until they end, or remove it with force (labledger partition remove --force)"
        raise Refused(f"partition {name} has {count}; {advice}")
    for job_id in await _open_jobs(parts, partition):
        await close_job(parts, _unconditional(request), job_id, why)

    async def decide() -> AppendRequest:
        directory, seen = parts.feed.directory, parts.feed.position
        if directory.version(partition.subject) != version:
            # It may have taken jobs after the look at its unfinished sets.
            raise Refused(f"partition {name} was changed during its removal; repeat the removal")
        moves = await moving(parts, moves_from(directory, partition.number), seen=seen)
        removal: Decided = [(partition.subject, PartitionRemoved(reason=reason))]
        return append_with(parts, request, removal, {partition.subject: version}, moves)

    done = await wait_until_reflected(parts, await commit(parts, decide))
    return Removal(done, len(unfinished), labs)


def _require_removable(parts: JobParts, request: RequestContext, partition: PartitionIdentity) -> None:
    directory = parts.feed.directory
    existing_partition(directory, partition.name)
    require_expected(request, partition.subject, directory.version(partition.subject))
    require_removable(partition_document(directory, partition.name), partition.name)


async def _open_jobs(parts: RemovalParts, partition: PartitionIdentity) -> list[int]:
    rows = await parts.reader.rows("open_jobs", {"partition": partition.number})
    return [row["job_id"] for row in rows]


def _unconditional(request: RequestContext) -> RequestContext:
    """Return the request without If-Match and Idempotency-Key, for the commits before the removal."""
    return replace(request, expected=None, command_id=None)


async def _unfinished_sets(parts: RemovalParts, partition: PartitionIdentity) -> list[int]:
    await parts.reader.reach(parts.feed.position, READ_MODELS_SECONDS)
    params = {"partition": partition.number, "unfinished": list(UNFINISHED)}
    rows = await parts.reader.rows("unfinished_sets", params)
    return [row["recipe_set_id"] for row in rows]


async def _clear(
    parts: JobParts,
    request: RequestContext,
    partition: PartitionIdentity,
    recipe_set_ids: Sequence[int],
    reason: str,
) -> None:
    """Abort recipe sets, some per commit, and end the reservations of the systems."""
    unconditional = _unconditional(request)
    for batch in batches(recipe_set_ids, SETS_IN_A_COMMIT):
        await _abort(parts, unconditional, batch, reason)
    await _end_reservations(parts, unconditional, partition, reason)


async def _abort(
    parts: JobParts, request: RequestContext, recipe_set_ids: Sequence[int], reason: str
) -> None:
    def decide(gathered: ReadSet) -> Decided:
        sets = [gathered.members(recipe_set_id) for recipe_set_id in recipe_set_ids]
        return [
            change
            for members in sets
            for change in abort_set(members, {recipe.recipe_id: reason for recipe in members.unfinished})
        ]

    subjects = (subject("recipe-set", recipe_set_id) for recipe_set_id in recipe_set_ids)
    await commit_aggregates(parts, request, subjects, decide)


async def _end_reservations(
    parts: JobParts, request: RequestContext, partition: PartitionIdentity, reason: str
) -> None:
    directory = parts.feed.directory
    fqdns = [fqdn for lab in labs_in(directory, partition.number) for fqdn in systems_of_lab(directory, lab)]

    def decide(gathered: ReadSet) -> Decided:
        systems = (gathered.system(fqdn) for fqdn in fqdns)
        return [change for system in systems if system is not None for change in end(system, reason)]

    if fqdns:
        await commit_aggregates(parts, request, (subject("system", fqdn) for fqdn in fqdns), decide)
