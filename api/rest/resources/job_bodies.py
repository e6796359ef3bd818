"""A job as the body of a request, in any of the forms that jobs have."""

from __future__ import annotations

import asyncio

import falcon
from falcon.asgi import Request

from api import intake
from api.intake import DOORS
from api.rest.body import media_type
from api.rest.middleware.principal import Principal
from api.services import Services
from domain.errors import FaultyInput
from domain.job.spec import JobSpec

# What takes longer than a millisecond or two to read must not hold up everybody else.
LONG_BODY_BYTES = 16_384


def door_of(req: Request) -> str:
    """The media type. Raises HTTPUnsupportedMediaType for what no job is."""
    kind = media_type(req)
    if kind not in DOORS:
        raise falcon.HTTPUnsupportedMediaType(description=f"a job is one of {', '.join(DOORS)}")
    return kind


async def read_job(services: Services, principal: Principal, body: bytes, kind: str) -> JobSpec:
    """The job, if nothing is wrong with it. Names are judged against the end of the log."""
    before = services.feed.position
    try:
        return await _check(services, principal, body, kind)
    except FaultyInput:
        await services.feed.catch_up()
        if services.feed.position == before:
            raise
    return await _check(services, principal, body, kind)


async def _check(services: Services, principal: Principal, body: bytes, kind: str) -> JobSpec:
    known = services.feed.directory.known_names()
    asked = (body, kind, known, principal.user, principal.is_admin)
    if len(body) < LONG_BODY_BYTES:
        return intake.read_job(*asked)
    return await asyncio.to_thread(intake.read_job, *asked)
