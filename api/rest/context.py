"""The context of a request: its id, address, operation and query, as the gate has set them."""

from __future__ import annotations

from typing import TypeVar

from falcon.asgi import Request

from api.rest.contract.openapi import plain
from api.rest.contract.operation import Operation
from api.rest.contract.queries import Query

Q = TypeVar("Q", bound=Query)


def route_of(req: Request) -> str | None:
    """Return the path as it is declared, `/jobs/{job_id}`; None if there is no such resource."""
    return None if req.uri_template is None else plain(str(req.uri_template))


def request_id_of(req: Request) -> str:
    found: str = req.context.request_id
    return found


def client_address(req: Request) -> str:
    """Return the client's address, see `middleware.address`."""
    found: str = req.context.address
    return found


def operation_of_request(req: Request) -> Operation:
    found: Operation = req.context.operation
    return found


def action_of_request(req: Request) -> str | None:
    """Return what the request asks for, such as `cancel a job`; None if the gate refused it before."""
    operation: Operation | None = getattr(req.context, "operation", None)
    return None if operation is None else operation.action


def query_of(req: Request, model: type[Q]) -> Q:
    """Return the validated query of the operation."""
    found = req.context.query
    assert isinstance(found, model), "an operation declares its query"
    return found
