"""Reading of request bodies up to a limit, and their validation by a model, with all faults at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, TypeVar

import falcon
import orjson
from falcon.asgi import Request
from pydantic import BaseModel, ValidationError

from api.concurrency_limits import share_of
from api.intake.json_text import refuse_duplicate_keys
from api.intake.limits import MAX_FAULTS
from api.rest.context import client_address, operation_of_request
from api.rest.contract.faults import faults_of, faults_of_findings
from api.rest.contract.operation import JSON
from domain.errors import Fault, FaultyInput, Unreadable
from domain.requirements.findings import Finding, Report

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


async def read_body(req: Request) -> bytes:
    """Return the whole body. Raises 413 above the limit of the operation, 415 for a Content-Encoding."""
    limit_bytes = operation_of_request(req).max_bytes
    _require_unencoded(req)
    if (req.content_length or 0) > limit_bytes:
        raise falcon.HTTPContentTooLarge(description=f"the body must not have more than {limit_bytes} bytes")
    chunks: list[bytes] = []
    size, share, address = 0, share_of(req), client_address(req)
    async for chunk in req.stream:
        size += len(chunk)
        if size > limit_bytes:
            raise falcon.HTTPContentTooLarge(
                description=f"the body must not have more than {limit_bytes} bytes"
            )
        share.hold(len(chunk), address)
        chunks.append(chunk)
    return b"".join(chunks)


def _require_unencoded(req: Request) -> None:
    if (req.get_header("Content-Encoding") or "identity").lower() != "identity":
        raise falcon.HTTPUnsupportedMediaType(description="the body must not be encoded")


async def body_chunks(req: Request) -> AsyncIterator[bytes]:
    """Yield the chunks of a body of any length as they arrive. Raises 415 for a Content-Encoding.

    The caller counts the bytes that it keeps.
    """
    _require_unencoded(req)
    async for chunk in req.stream:
        yield chunk


async def read_json_bytes(req: Request) -> bytes:
    """Return the body of a request with media type JSON. Raises 413 or 415."""
    if media_type(req) != JSON:
        raise falcon.HTTPUnsupportedMediaType(description=f"the body must be {JSON}")
    return await read_body(req)


async def read_model(req: Request) -> Any:
    """Return the JSON body as the operation's model. Raises 413, 415, Unreadable or FaultyInput."""
    return await parse_model(req, await read_json_bytes(req))


async def read_document(req: Request, read: Callable[[Any, Report], T | None]) -> T:
    """Return the JSON body as the value that `read` returns, as `check_document` does.

    Raises 413, 415, Unreadable or FaultyInput.
    """
    body = await read_json_bytes(req)
    parse = partial(_parse_document, body, read)
    return await share_of(req).parse(client_address(req), len(body), parse)


def media_type(req: Request) -> str:
    return (req.content_type or "").partition(";")[0].strip().lower()


async def parse_model(req: Request, body: bytes) -> Any:
    """Return the body as a value of the operation's model. Raises Unreadable or FaultyInput."""
    model = operation_of_request(req).body
    assert model is not None, "the operation declares a body"
    return await share_of(req).parse(client_address(req), len(body), partial(_parse, body, model))


def _parse(body: bytes, model: type[M]) -> M:
    return check_model(parse_json(body), model)


def _parse_document(body: bytes, read: Callable[[Any, Report], T | None]) -> T:
    return check_document(parse_json(body), read)


def check_document(document: Any, read: Callable[[Any, Report], T | None]) -> T:
    """Return the value that `read` makes of the document. Raises FaultyInput with every reported fault."""
    findings: list[Finding] = []
    found = read(document, lambda path, message: findings.append(Finding(path, message)))
    if found is None or findings:
        raise FaultyInput(faults_of_findings(findings))
    return found


def parse_json(body: bytes) -> Any:
    """Return the value of a JSON body. Raises Unreadable, or FaultyInput for two equal keys of one object."""
    try:
        document: Any = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Unreadable([Fault(f"line {error.lineno}, column {error.colno}", error.msg)]) from error
    refuse_duplicate_keys(body.decode())
    return document


def check_model(document: Any, model: type[M], limit: int = MAX_FAULTS) -> M:
    """Return the document as a value of the model. Raises FaultyInput with at most `limit` faults."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise FaultyInput(faults_of(error, model, limit)) from error
