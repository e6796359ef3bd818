"""Request bodies: bounded, read once, and checked against a model with all faults at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import falcon
import orjson
from falcon.asgi import Request
from pydantic import BaseModel, ValidationError

from api.intake.limits import FAULT_LIMIT, WORDS_LENGTH
from domain.errors import Fault, FaultyInput, Unreadable

MAX_BODY_BYTES = 1 << 20
MAX_BATCH_BYTES = 16 << 20

M = TypeVar("M", bound=BaseModel)


async def read_body(req: Request, limit_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The whole body. Raises 413 before reading more than the limit."""
    if (req.content_length or 0) > limit_bytes:
        raise falcon.HTTPContentTooLarge(description=f"a body may have {limit_bytes} bytes at most")
    chunks: list[bytes] = []
    size = 0
    async for chunk in req.stream:
        size += len(chunk)
        if size > limit_bytes:
            raise falcon.HTTPContentTooLarge(description=f"a body may have {limit_bytes} bytes at most")
        chunks.append(chunk)
    return b"".join(chunks)


async def read_json_bytes(req: Request, limit_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The body, which says that it is JSON. Raises 413 or 415."""
    if media_type(req) != "application/json":
        raise falcon.HTTPUnsupportedMediaType(description="this takes application/json")
    return await read_body(req, limit_bytes)


async def read_model(req: Request, model: type[M], limit_bytes: int = MAX_BODY_BYTES) -> M:
    """The JSON body as a model. Raises 413, 415, Unreadable or FaultyInput."""
    return parse_model(await read_json_bytes(req, limit_bytes), model)


def media_type(req: Request) -> str:
    return (req.content_type or "").partition(";")[0].strip().lower()


def parse_model(body: bytes, model: type[M]) -> M:
    try:
        document: Any = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Unreadable([Fault(f"line {error.lineno}, column {error.colno}", error.msg)]) from error
    return check_model(document, model)


def check_model(document: Any, model: type[M]) -> M:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise FaultyInput(faults_of(error)) from error


def faults_of(error: ValidationError) -> list[Fault]:
    """As many as a person reads."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    faults = [Fault(_where(one["loc"])[:WORDS_LENGTH], _words(one)) for one in found[:FAULT_LIMIT]]
    if len(found) > FAULT_LIMIT:
        faults.append(Fault("body", f"and {len(found) - FAULT_LIMIT} more faults"))
    return faults


def _words(found: Mapping[str, Any]) -> str:
    """What pydantic says, where that speaks of inputs and models, in the words of the API."""
    return "is not known here" if found["type"] == "extra_forbidden" else str(found["msg"])


def _where(location: tuple[int | str, ...]) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path or "body"
