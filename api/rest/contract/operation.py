"""Declarations of operations (one method of one path), written at their responders."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from api.rest.contract.queries import Query

MAX_BODY_BYTES = 1 << 20
MAX_BATCH_BYTES = 16 << 20
# The maximum before authentication: the longest name and password, with every character escaped.
MAX_LOGIN_BYTES = 16 << 10

JSON = "application/json"

# Statuses of operations with a body: it does not arrive, is too large, or has another media type.
BODY_REFUSALS = (408, 413, 415)

R = TypeVar("R", bound=Callable[..., Any])


@dataclass(frozen=True)
class Operation:
    """`does` is the summary for users, in the imperative, from which `action` is derived.

    `takes` are the media types of the body, `gives` those of the answer; `body` and `answer` are the models
    for JSON. `versioned`: the answer has an ETag, or the change accepts If-Match. `keyed`: the operation
    accepts an Idempotency-Key. `lenient` is the model of the answer with status 200 to a client that
    prefers lenient handling. `is_read`: it changes nothing, although it is a POST. `refuses` are HTTP
    statuses in addition to those that follow from the rest.
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
    lenient: type[BaseModel] | None = None
    refuses: tuple[int, ...] = ()
    is_read: bool = False
    max_bytes: int = MAX_BODY_BYTES

    @property
    def action(self) -> str:
        """Return the summary up to its first comma, colon or semicolon, for messages: `cancel a job`."""
        first = re.split("[,:;]", self.does, maxsplit=1)[0]
        return first[:1].lower() + first[1:]


def operation(
    does: str, answer: type[BaseModel] | None = None, query: type[Query] = Query, **more: Any
) -> Callable[[R], R]:
    def declare(responder: R) -> R:
        responder.operation = Operation(does, answer, query, **more)  # type: ignore[attr-defined]
        return responder

    return declare


def operation_of(resource: Any, responder: str) -> Operation:
    """Return the operation of a responder. A resource may have `operations` of its own, by responder."""
    own: dict[str, Operation] = getattr(resource, "operations", {})
    declared: Operation = own.get(responder) or getattr(resource, responder).operation
    return declared
