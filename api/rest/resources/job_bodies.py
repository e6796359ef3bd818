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
    content_type = media_type(req)
    if content_type not in PARSERS:
        raise falcon.HTTPUnsupportedMediaType(
            description=f"the media type of a job must be one of {', '.join(PARSERS)}"
        )
    return content_type


async def read_job(
    parts: JobBodyParts, principal: Principal, body: bytes, content_type: str, *, strict: bool = False
) -> ReadJob:
    """Return the job; recheck faults and warnings at the end of the log. Raises InvalidJob or Unreadable."""
    before = parts.feed.position
    try:
        job = await _check(parts, principal, body, content_type, strict=strict)
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
    return await _check(parts, principal, body, content_type, strict=strict)


async def _check(
    parts: JobBodyParts, principal: Principal, body: bytes, content_type: str, *, strict: bool
) -> ReadJob:
    names = visibility.name_index(principal, parts)
    visible = visibility.visible_names(principal, parts, names)
    arguments = (body, content_type, names, principal.user, principal.is_admin)
    read = partial(intake.read_job, *arguments, strict=strict, visible=visible, tags=parts.retention_tags)
    try:
        return await parts.active_requests.parsing.run(principal.limit_key, len(body), read)
    except Unreadable:
        raise
    except FaultyInput as error:
        raise InvalidJob(error.faults) from error


def warnings_document(warnings: Iterable[Fault]) -> list[dict[str, str]]:
    return [asdict(warning) for warning in warnings]
