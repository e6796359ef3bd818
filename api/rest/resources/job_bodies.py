"""Reading of a job from the body of a request, in any of its media types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import partial

import falcon
from falcon.asgi import Request

from api import intake
from api.intake import PARSERS, ReadJob
from api.rest import visibility
from api.rest.body import media_type
from api.rest.context import Principal
from api.rest.ports import JobBodyParts
from domain.errors import Fault, FaultyInput, InvalidJob, Unreadable


def job_media_type(req: Request) -> str:
    """Return the media type of the body. Raises HTTPUnsupportedMediaType if a job cannot have it."""
    kind = media_type(req)
    if kind not in PARSERS:
        raise falcon.HTTPUnsupportedMediaType(
            description=f"the media type of a job must be one of {', '.join(PARSERS)}"
        )
    return kind


async def read_job(
    parts: JobBodyParts, principal: Principal, body: bytes, kind: str, *, strict: bool = False
) -> ReadJob:
    """Return the job, checked at the end of the log if it has faults. Raises InvalidJob or Unreadable."""
    before = parts.feed.position
    try:
        job = await _check(parts, principal, body, kind, strict=strict)
        if not job.warnings:
            return job
    except FaultyInput:
        await parts.feed.catch_up()
        if parts.feed.position == before:
            raise
    else:
        await parts.feed.catch_up()
        if parts.feed.position == before:
            return job
    return await _check(parts, principal, body, kind, strict=strict)


async def _check(
    parts: JobBodyParts, principal: Principal, body: bytes, kind: str, *, strict: bool
) -> ReadJob:
    usable = visibility.name_index(principal, parts)
    visible = visibility.visible_names(principal, parts, usable)
    read = partial(intake.read_job, strict=strict, visible=visible, tags=parts.retention_tags)
    arguments = (body, kind, usable, principal.user, principal.is_admin)
    try:
        return await parts.under_way.parsing.run(principal.limit_key, len(body), partial(read, *arguments))
    except Unreadable:
        raise
    except FaultyInput as error:
        raise InvalidJob(error.faults) from error


def warnings_document(warnings: Iterable[Fault]) -> list[dict[str, str]]:
    return [asdict(warning) for warning in warnings]
