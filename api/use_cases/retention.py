"""Results and logs of ended jobs: jobs that people keep, and deletions by retention tags."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from api.use_cases.commit import append_for, commit
from api.use_cases.owning_partition import owner_of
from api.use_cases.ports import LabParts, ReadModels, RequestContext, WriteParts
from api.use_cases.report_drafts import CommandItem, of_commands
from api.use_cases.rights import own_job
from domain.directory.actors import RETENTION
from domain.events import Change, Decided, Stamp
from domain.job.retention import KeepChange
from domain.job.retention import delete_results as decide_deletion
from domain.job.retention import keep_job as decide_keep
from domain.job.retention_tags import RetentionTag
from domain.job.state import folded
from domain.recipe.lifecycle import STARTED
from store.requests import AppendRequest, Committed, new_command_id

BATCH: Final = 100
# Between the commits of two jobs, so that other appends are not delayed.
PAUSE_SECONDS: Final = 0.02
# A lab controller that is removed and added again within this time still gets its commands.
RETURN_TIME: Final = timedelta(days=7)
_FIRST: Final = (datetime(1970, 1, 1, tzinfo=UTC), 0)


async def keep_job(
    parts: WriteParts, request: RequestContext, job_id: int, change: KeepChange
) -> Committed | None:
    """Keep the results and logs of a job, or let its retention tag apply again; None if it is so already.

    Raises the errors of `own_job`, and Refused for a job whose results have been deleted.
    """

    def attempt() -> AppendRequest | None:
        job = own_job(parts, request, job_id)
        decided = decide_keep(job, change)
        return append_for(parts, request, decided, {job.subject: job.version}) if decided else None

    return await commit(parts, lambda: asyncio.to_thread(attempt))


async def due_deletions(
    reader: ReadModels,
    tags: Sequence[RetentionTag],
    moment: datetime,
    limit: int,
    after: tuple[datetime, int] = _FIRST,
    *,
    with_sizes: bool = True,
) -> list[dict[str, Any]]:
    """Return jobs whose results the tags delete at a moment; the first that ended first.

    `after` has the end and the id of the job before these. Without their sizes, which are 0 then, the number
    of results of the jobs does not matter.
    """
    params = {**tag_params(tags, moment), "limit": limit, "started": list(STARTED), "with_sizes": with_sizes}
    return await reader.rows("due_deletions", {**params, "after_ended": after[0], "after_job": after[1]})


def tag_params(tags: Sequence[RetentionTag], moment: datetime) -> dict[str, Any]:
    """Return the parameters for tags in queries of due jobs."""
    return {"tags": [tag.name for tag in tags], "days": [tag.days for tag in tags], "moment": moment}


async def delete_due_results(parts: LabParts, tags: Sequence[RetentionTag]) -> int:
    """Delete the results of all jobs for which the days of their tags are over; return the number of jobs.

    Each job is a commit of its own. A job that changes meanwhile, or that another process deletes, is left
    for the next call. Raises NotYetBuilt while the read models lack jobs, and DatabaseAway.
    """
    parts.reader.require_whole()
    count = 0
    async for row in _all_due(parts, tags):
        append = await asyncio.to_thread(_decide, parts, row)
        if append is not None:
            count += isinstance(await parts.commits.submit(append), Committed)
            await asyncio.sleep(PAUSE_SECONDS)
    return count


async def _all_due(parts: LabParts, tags: Sequence[RetentionTag]) -> AsyncIterator[dict[str, Any]]:
    moment, after = parts.clock(), _FIRST
    while rows := await due_deletions(parts.reader, tags, moment, BATCH, after, with_sizes=False):
        for row in rows:
            yield row
        after = rows[-1]["ended_at"], rows[-1]["job_id"]


async def end_orphaned_deletions(parts: LabParts) -> int:
    """End the commands to delete logs of lab controllers that were removed RETURN_TIME ago or before.

    They fail, because nobody could finish them. Return their number. Each is a commit of its own, as a
    deletion is; one that conflicts, such as with the return of the lab controller, is left for the next call.
    Raises NotYetBuilt and DatabaseAway.
    """
    await parts.feed.catch_up()
    count, after = 0, 0
    while rows := await _orphaned(parts, after):
        for row in rows:
            append = await asyncio.to_thread(_failed, parts, row["command_id"], row["lab_controller"])
            if append is not None:
                count += isinstance(await parts.commits.submit(append), Committed)
                await asyncio.sleep(PAUSE_SECONDS)
        after = rows[-1]["command_id"]
    return count


async def _orphaned(parts: LabParts, after: int) -> list[dict[str, Any]]:
    present = [name for name, _ in parts.feed.directory.items("lab-controller")]
    params = {"lab_controllers": present, "after": after, "limit": BATCH}
    return await parts.reader.rows("orphaned_log_deletions", params)


def _failed(parts: WriteParts, command_id: int, lab_controller: str) -> AppendRequest | None:
    """Return the failure of a command, None if it is finished or its lab controller may return. Blocking."""
    directory, lab = parts.feed.directory, f"lab-controller/{lab_controller}"
    # Read before the entry, so that a later registration is a conflict.
    version = directory.version(lab)
    if directory.get("lab-controller", lab_controller) is not None:
        return None
    removed = parts.log.load({lab: version - 1})[lab]
    if removed and parts.clock() < removed[-1].recorded_at + RETURN_TIME:
        return None
    failed = CommandItem(command_id, "failed", f"the lab controller {lab_controller} was removed")
    (draft,) = of_commands(parts.log, {0: failed})
    if not draft.decided:
        return None
    return _append(
        parts, draft.decided, {**draft.versions, lab: version}, f"timer/retention/{failed.subject}"
    )


def _decide(parts: WriteParts, row: dict[str, Any]) -> AppendRequest | None:
    """Return the deletion for a due job, decided on its present state. Blocking."""
    job_id = row["job_id"]
    subject = f"job/{job_id}"
    job = folded(job_id, parts.log.load({subject: 0})[subject])
    assert job is not None, "jobs are never removed"
    decided = decide_deletion(job, RetentionTag(row["tag"], row["days"]), row["lab_controllers"])
    if not decided:
        return None
    return _append(parts, decided, {job.subject: job.version}, f"timer/retention/{job_id}")


def _append(parts: WriteParts, decided: Decided, expected: dict[str, int], cause: str) -> AppendRequest:
    stamp = Stamp(parts.clock(), RETENTION, cause)
    return AppendRequest(
        command_id=new_command_id(),
        changes=tuple(Change(subject, event, stamp) for subject, event in decided),
        expected=expected,
        partition=owner_of(parts.aggregates, parts.feed.directory, decided).partition,
    )
