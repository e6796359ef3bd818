"""The filters of a list as fields of a form, from the model of its query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from api.rest.contract.queries import Page, Query
from domain.rfc3339 import rfc3339

BOOLEANS = ("false", "true")


@dataclass(frozen=True)
class FilterField:
    """A field of a form. `choices` are all values, None if they are not a few fixed ones.

    `is_optional`: without a value, the field selects everything.
    """

    name: str
    value: str
    choices: Sequence[str] | None
    is_optional: bool


def filter_fields(query: Query) -> list[FilterField]:
    """Return the fields of the filters of a list, with their present values."""
    fields = type(query).model_fields
    return [
        FilterField(name, _text(getattr(query, name)), choices, fields[name].default is None)
        for name, choices in _choices(type(query)).items()
    ]


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, bool):
        return BOOLEANS[value]
    return "" if value is None else str(value)


@cache
def _choices(model: type[Query]) -> dict[str, Sequence[str] | None]:
    """Return the filters of a query by name, with their choices."""
    properties = model.model_json_schema()["properties"]
    return {name: _enum(schema) for name, schema in properties.items() if name not in Page.model_fields}


def _enum(schema: dict[str, Any]) -> Sequence[str] | None:
    """Return the values of an enumeration or of a boolean, None for another schema."""
    if schema.get("type") == "boolean":
        return BOOLEANS
    found = (_enum(option) for option in schema.get("anyOf", ()))
    enumeration: Sequence[str] | None = schema.get("enum") or next(
        (values for values in found if values), None
    )
    return enumeration
