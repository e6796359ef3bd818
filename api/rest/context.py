"""What the gate has found out about a request, for those who answer it."""

from __future__ import annotations

from typing import TypeVar

from falcon.asgi import Request

from api.rest.contract.operation import Operation
from api.rest.contract.queries import Query

Q = TypeVar("Q", bound=Query)


def request_id_of(req: Request) -> str:
    found: str = req.context.request_id
    return found


def operation_asked(req: Request) -> Operation:
    found: Operation = req.context.operation
    return found


def query_of(req: Request, model: type[Q]) -> Q:
    """The checked query, which is that of the operation."""
    found = req.context.query
    assert isinstance(found, model), "an operation says what its query is"
    return found
