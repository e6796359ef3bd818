"""Reading of a job from the body of a request, in any of its media types."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TypeVar

import falcon
from falcon.asgi import Request

from api import intake
from api.intake import PARSERS, PartitionRules, ReadJob, ReadJobs, may_depend, mentioned_in
from api.intake.limits import MAX_MENTIONED
from api.rest import visibility
from api.rest.body import media_type
from api.rest.context import Principal
from api.rest.ports import JobBodyParts
from domain.directory.partitions import (
    DEFAULT,
    identities,
    max_placed_recipes,
    merged_table,
    operation_table,
)
from domain.errors import Fault, FaultyInput, InvalidJob, Unreadable
from domain.events import subject
from domain.job.state import Job

T = TypeVar("T")


def job_media_type(req: Request) -> str:
    """Return the media type of the body. Raises HTTPUnsupportedMediaType if a job cannot have it."""
    content_type = media_type(req)
    if content_type not in PARSERS:
        raise falcon.HTTPUnsupportedMediaType(
            description=f"the media type of a job must be one of {', '.join(PARSERS)}"
        )
    return content_type


async def read_job(
    parts: JobBodyParts, principal: Principal, body: bytes, content_type: str, *, strict: bool = False
) -> ReadJob:
    """Return a job that is not submitted; recheck faults and warnings at the end of the log.

    Raises InvalidJob or Unreadable.
    """

    def has_warnings(job: ReadJob) -> bool:
        return bool(job.warnings)

    reader = _Reader(parts, principal, body, content_type, strict, is_submission=False)
    return await reader.read(intake.read_job, has_warnings)


async def read_jobs(
    parts: JobBodyParts, principal: Principal, body: bytes, content_type: str, *, strict: bool = False
) -> ReadJobs:
    """Return the job or the list of jobs for submission, checked like `read_job`.

    A recipe set must not have more hosts than may be placed at once.
    """

    def has_warnings(read: ReadJobs) -> bool:
        return any(job.warnings for job in read.jobs)

    reader = _Reader(parts, principal, body, content_type, strict, is_submission=True)
    return await reader.read(intake.read_jobs, has_warnings)


async def read_added_sets(
    parts: JobBodyParts,
    principal: Principal,
    body: bytes,
    content_type: str,
    present: Job,
    partition: str,
    *,
    strict: bool = False,
) -> ReadJob:
    """Return recipe sets that are added to a job of a partition, checked like `read_jobs`."""

    def has_warnings(read: ReadJob) -> bool:
        return bool(read.warnings)

    reader = _Reader(parts, principal, body, content_type, strict, is_submission=True, partition=partition)
    return await reader.read(partial(intake.read_added_sets, present=present), has_warnings)


async def located(
    parts: JobBodyParts, principal: Principal, body: bytes, content_type: str, error: FaultyInput
) -> FaultyInput:
    """Return the error of a submission whose body was valid, with the lines of the body."""
    reader = _Reader(parts, principal, body, content_type, strict=False, is_submission=True)
    return FaultyInput(await reader.parsed(partial(intake.with_lines, body, content_type, error.faults)))


@dataclass(frozen=True)
class _Reader:
    """A body and its sender."""

    parts: JobBodyParts
    principal: Principal
    body: bytes
    content_type: str
    strict: bool
    is_submission: bool
    # That of the job to which recipe sets are added; other jobs may name theirs.
    partition: str | None = None

    async def read(self, parse: Callable[..., T], has_warnings: Callable[[T], bool]) -> T:
        existing = await self._existing()
        feed = self.parts.feed
        before = feed.position
        try:
            found = await self._check(parse, existing)
            if not has_warnings(found):
                return found
        except FaultyInput:
            await feed.catch_up()
            if feed.position == before:
                raise
        else:
            await feed.catch_up()
            if feed.position == before:
                return found
        return await self._check(parse, existing)

    async def _existing(self) -> frozenset[str]:
        """Return the subjects of the existing jobs and recipe sets on which a job says that it depends.

        They are looked up in the log, because a job may depend on one that was submitted a moment ago.
        """
        if not may_depend(self.body):
            return frozenset()
        mentioned = await self.parsed(partial(mentioned_in, self.body, self.content_type))
        # A submission that mentions more is refused.
        subjects = [subject(*one) for one in sorted(mentioned)[:MAX_MENTIONED]]
        return await asyncio.to_thread(self.parts.log.existing, subjects) if subjects else frozenset()

    async def _check(self, parse: Callable[..., T], existing: frozenset[str]) -> T:
        names = visibility.name_index(self.principal, self.parts)
        return await self.parsed(
            partial(
                parse,
                *(self.body, self.content_type, names, self.principal.user, self.principal.is_admin),
                strict=self.strict,
                visible=visibility.visible_names(self.principal, self.parts, names),
                tags=self.parts.retention_tags,
                rules=self._rules_of,
                exists=lambda *one: subject(*one) in existing,
            )
        )

    def _rules_of(self, partition: str | None) -> PartitionRules:
        """Return the rules of the named partition. A job that names none is checked again once it has one."""
        directory = self.parts.feed.directory
        partition = self.partition or partition
        if partition is None and len(identities(directory)) > 1:
            return PartitionRules(merged_table(directory))
        name = partition or DEFAULT
        max_placed = max_placed_recipes(directory, name) if self.is_submission else None
        return PartitionRules(operation_table(directory, name), max_placed)

    async def parsed(self, parse: Callable[[], T]) -> T:
        """Return the result of a parser. Raises InvalidJob or Unreadable."""
        parsing = self.parts.active_requests.parsing
        try:
            return await parsing.run(self.principal.limit_key, len(self.body), parse)
        except Unreadable:
            raise
        except FaultyInput as error:
            raise InvalidJob(error.faults) from error


def warnings_document(warnings: Iterable[Fault]) -> list[dict[str, str]]:
    return [asdict(warning) for warning in warnings]
