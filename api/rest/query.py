"""Validation of query parameters by a model, with all faults at once."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from falcon.asgi import Request
from pydantic import ValidationError

from api.intake.limits import MAX_MESSAGE_LENGTH
from api.rest.contract.faults import faults_of
from api.rest.contract.queries import ForeignQuery, Query
from domain.errors import Fault, FaultyInput

Q = TypeVar("Q", bound=Query)

# These parameters may be repeated.
_REPEATABLE = ("types", "subject", "fqdn", "page")


def read_query(req: Request, model: type[Q], *, ignores_empty: bool = False) -> Q:
    """Return the query of a request. Raises FaultyInput with all faults.

    `ignores_empty`: a browser sends every field of a form, also the empty ones.
    """
    params = {name: value for name, value in req.params.items() if value or not ignores_empty}
    if not params:
        with suppress(ValidationError):
            empty: Q = _empty_query(model)
            return empty
    names = tuple(model.model_fields)
    message = f"unknown parameter; the parameters are {', '.join(names)}" if names else "unknown parameter"
    unknown = () if issubclass(model, ForeignQuery) else (name for name in params if name not in names)
    faults = [Fault(name[:MAX_MESSAGE_LENGTH], message) for name in unknown]
    given: dict[str, Any] = {}
    for name in names:
        value: Any = params.get(name)
        if isinstance(value, list) and name not in _REPEATABLE:
            faults.append(Fault(name, "is given more than once"))
        elif value is not None:
            given[name] = value
    try:
        query = model.model_validate(given)
    except ValidationError as error:
        raise FaultyInput([*faults, *faults_of(error)]) from error
    if faults:
        raise FaultyInput(faults)
    return query


@cache
def _empty_query(model: type[Q]) -> Q:
    """Return the query of a request without parameters. Raises ValidationError if the model requires one."""
    return model.model_validate({})
