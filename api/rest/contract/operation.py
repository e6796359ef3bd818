"""What one method of one path takes and gives, written at the responder that does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from api.rest.contract.queries import Query

MAX_BODY_BYTES = 1 << 20
MAX_BATCH_BYTES = 16 << 20
# Of somebody who is nobody yet: the longest name and password, however they are escaped.
MAX_LOGIN_BYTES = 16 << 10

JSON = "application/json"

# States of HTTP for whom a body is read: it does not come on, is too large, or of another kind.
BODY_REFUSALS = (408, 413, 415)

R = TypeVar("R", bound=Callable[..., Any])


@dataclass(frozen=True)
class Operation:
    """`does` is a line for people.

    `takes` are the media types of the body, `gives` those of the answer: of JSON, `body` and `answer` are the
    shapes. `versioned`: the answer has an ETag, or the change takes If-Match. `keyed`: it takes an
    Idempotency-Key. `refuses` are states of HTTP beside those that follow from all this.
    """

    does: str
    answer: type[BaseModel] | None = None
    query: type[Query] = Query
    body: type[BaseModel] | None = None
    takes: tuple[str, ...] = (JSON,)
    gives: tuple[str, ...] = (JSON,)
    created: bool = False
    versioned: bool = False
    keyed: bool = False
    refuses: tuple[int, ...] = ()
    most_bytes: int = MAX_BODY_BYTES


def operation(
    does: str,
    answer: type[BaseModel] | None = None,
    query: type[Query] = Query,
    **more: Any,
) -> Callable[[R], R]:
    """Say of a responder what it takes and gives."""

    def say(responder: R) -> R:
        responder.operation = Operation(does, answer, query, **more)  # type: ignore[attr-defined]
        return responder

    return say


def operation_of(resource: Any, responder: str) -> Operation:
    """Of one responder. A class that serves several kinds of things says it in its `operations`."""
    own: dict[str, Operation] = getattr(resource, "operations", {})
    found: Operation = own.get(responder) or getattr(resource, responder).operation
    return found
