"""The OpenAPI 3.1 document, generated from routes, operations and their models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from api.headers import NDJSON, POSITION_HEADER, PREFERENCE_APPLIED, PROBLEM
from api.rest.contract.answers.common import Answer, Problem
from api.rest.contract.operation import BODY_REFUSALS, JSON, Operation
from api.rest.contract.parameters import header_parameters, lab_parameters, path_parameters, query_parameters
from api.rest.contract.queries import Caught, PresentPage
from api.rest.permissions import required_permissions

REF = "#/components/schemas/{model}"

Document = dict[str, Any]
Schemas = Mapping[Any, Document]
Header = dict[str, Any]

_TEXT = {"type": "string"}
_POSITION: Header = {
    "description": "the log position that the answer reflects, or that of the last event written",
    "required": True,
    "schema": {"type": "integer", "minimum": 0},
}
_APPLIED: Header = {"description": "the preference that was honoured", "required": True, "schema": _TEXT}
_LOCATION: Header = {"description": "path of the new resource", "required": True, "schema": _TEXT}
_ETAG: Header = {"description": "version of the resource, for If-Match", "schema": _TEXT}
_LINK: Header = {"description": "rel=next: the next page", "schema": _TEXT}
_RETRY: Header = {"description": "seconds until a retry", "schema": {"type": "integer", "minimum": 0}}


def describe(
    routes: Mapping[str, Any], operations: Mapping[tuple[str, str], Operation], version: str
) -> Document:
    """Return the document of these routes, which have the permitted roles.

    `operations` are by (path, method); those of other routes are left out.
    """
    operations = {of: operation for of, operation in operations.items() if of[0] in routes}
    schemas, components = _schemas(operations.values())
    paths: dict[str, Document] = {}
    for (path, method), operation in operations.items():
        roles = routes[path].roles[method]
        described = paths.setdefault(plain(path), {})
        described[method.lower()] = _operation(path, method, operation, roles, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Labledger",
            "version": version,
            "description": "Schedules test recipes onto the machines of hardware labs.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas(operations: Iterable[Operation]) -> tuple[Schemas, dict[str, Document]]:
    models: dict[tuple[type[BaseModel], Any], None] = {(Problem, "serialization"): None}
    for operation in operations:
        if operation.body is not None:
            models[operation.body, "validation"] = None
        for answer in (operation.answer, operation.lenient):
            if answer is not None:
                models[answer, "serialization"] = None
    schemas, definitions = models_json_schema(list(models), ref_template=REF)
    return schemas, definitions["$defs"]


def _operation(
    path: str, method: str, operation: Operation, roles: tuple[str, ...], schemas: Schemas
) -> Document:
    described: Document = {
        "summary": operation.does,
        "operationId": _id(path, method),
        "parameters": [
            *path_parameters(path),
            *query_parameters(operation.query),
            *header_parameters(operation, method),
            *lab_parameters(roles),
        ],
        "responses": _responses(path, method, operation, roles, schemas),
    }
    if roles:
        described["description"] = f"Roles: {', '.join(roles)}.{_permitted(path, method)}"
        described["security"] = [{"token": []}]
    else:
        described["security"] = []
    if operation.body is not None:
        shape = schemas[operation.body, "validation"]
        described["requestBody"] = {
            "required": True,
            "content": {
                kind: {"schema": shape if kind == JSON else {"type": "string"}} for kind in operation.takes
            },
        }
    return described


def _permitted(path: str, method: str) -> str:
    permissions = required_permissions(method, path)
    return f" Required permission on the system: {' or '.join(permissions)}." if permissions else ""


def _responses(
    path: str, method: str, operation: Operation, roles: tuple[str, ...], schemas: Schemas
) -> Document:
    shape = {} if operation.answer is None else schemas[operation.answer, "serialization"]
    content = {kind: {"schema": shape if kind == JSON else {"type": "string"}} for kind in operation.gives}
    success = "201" if operation.created else "200"
    problem = {PROBLEM: {"schema": schemas[Problem, "serialization"]}}
    responses: Document = {
        success: {"description": "Success", "headers": success_headers(method, operation), "content": content}
    }
    if operation.lenient is not None:
        responses["200"] = {
            "description": "The answer for each item, if the client prefers lenient handling",
            "headers": {POSITION_HEADER: _POSITION, PREFERENCE_APPLIED: _APPLIED},
            "content": {
                JSON: {"schema": schemas[operation.lenient, "serialization"]},
                **({NDJSON: {"schema": {"type": "string"}}} if NDJSON in operation.takes else {}),
            },
        }
    for status in sorted(set(_refusals(path, method, operation, roles))):
        responses[str(status)] = {
            "description": HTTPStatus(status).phrase,
            "headers": error_headers(status),
            "content": problem,
        }
    return responses


def _refusals(path: str, method: str, operation: Operation, roles: tuple[str, ...]) -> Iterator[int]:
    """Yield the HTTP statuses of the errors of an operation, possibly more than once."""
    yield from (400, 422, 500, 503)
    yield from operation.refuses
    if roles:
        yield from (401, 403, 429)
    if "{" in path:
        yield 404
    if method != "GET":
        yield 409
        if operation.versioned:
            yield 412
    if operation.body is not None:
        yield from BODY_REFUSALS
    if issubclass(operation.query, Caught):
        yield 504


@cache
def plain(path: str) -> str:
    """Return a path without the converters of its parameters: `/jobs/{job_id}`."""
    return re.sub(r":[^}]*(?=\})", "", path)


def _id(path: str, method: str) -> str:
    words = [word for word in re.split(r"[^a-z]+", re.sub(r"\{(\w+)[^}]*\}", r"by-\1", path)) if word]
    return "_".join((method.lower(), *words))


def success_headers(method: str, operation: Operation) -> dict[str, Header]:
    headers: dict[str, Header] = {}
    if operation.answer is not None and issubclass(operation.answer, Answer):
        headers[POSITION_HEADER] = _POSITION
    if operation.created:
        headers["Location"] = _LOCATION
    if operation.versioned and method == "GET":
        headers["ETag"] = _ETAG
    if issubclass(operation.query, PresentPage):
        headers["Link"] = _LINK
    return headers


def error_headers(status: int) -> dict[str, Header]:
    if status == 401:
        return {"WWW-Authenticate": {"description": "the authentication scheme", "schema": _TEXT}}
    return {"Retry-After": _RETRY} if status in (429, 503) else {}
