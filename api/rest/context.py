"""What is known of a request when it is answered: what the gate has found out, and where it went."""

from __future__ import annotations

from typing import TypeVar

from falcon.asgi import Request

from api.rest.contract.openapi import plain
from api.rest.contract.operation import Operation
from api.rest.contract.queries import Query

Q = TypeVar("Q", bound=Query)


def route_of(req: Request) -> str | None:
    """The path as it is declared, `/jobs/{job_id}`; None where there is nothing."""
    return None if req.uri_template is None else plain(str(req.uri_template))


def request_id_of(req: Request) -> str:
    found: str = req.context.request_id
    return found


def came_from(req: Request) -> str:
    """The client's address, see `middleware.address`."""
    found: str = req.context.address
    return found


def operation_asked(req: Request) -> Operation:
    found: Operation = req.context.operation
    return found


def query_of(req: Request, model: type[Q]) -> Q:
    """The checked query, which is that of the operation."""
    found = req.context.query
    assert isinstance(found, model), "an operation says what its query is"
    return found
