"""Access to the values that the gate stores in the context of a request: id, address, operation and query."""

from __future__ import annotations

from typing import TypeVar

from falcon.asgi import Request

from api.rest.contract.openapi import plain
from api.rest.contract.operation import Operation
from api.rest.contract.queries import Query

Q = TypeVar("Q", bound=Query)


def route_of(req: Request) -> str | None:
    """Return the declared path, such as `/jobs/{job_id}`, or None if there is no such resource."""
    return None if req.uri_template is None else plain(str(req.uri_template))


def request_id_of(req: Request) -> str:
    request_id: str = req.context.request_id
    return request_id


def client_address(req: Request) -> str:
    """Return the client's address as `middleware.address` computes it."""
    address: str = req.context.address
    return address


def operation_of_request(req: Request) -> Operation:
    operation: Operation = req.context.operation
    return operation


def action_of_request(req: Request) -> str | None:
    """Return the action, such as `cancel a job`; None if the gate has not set the operation."""
    operation: Operation | None = getattr(req.context, "operation", None)
    return None if operation is None else operation.action


def query_of(req: Request, model: type[Q]) -> Q:
    """Return the validated query of the operation."""
    query = req.context.query
    assert isinstance(query, model), "the operation declares this query"
    return query
