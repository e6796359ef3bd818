"""The filters of a list as fields of a form, from the model of its query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from api.rest.contract.queries import Page, Query


@dataclass(frozen=True)
class FilterField:
    """A field of a form. `choices` are all values, None if they are not a few fixed ones."""

    name: str
    value: str
    choices: Sequence[str] | None


def filter_fields(query: Query) -> list[FilterField]:
    """Return the fields of the filters of a list, with their present values."""
    shown = ((name, getattr(query, name), choices) for name, choices in _choices(type(query)).items())
    return [FilterField(name, "" if value is None else str(value), choices) for name, value, choices in shown]


@cache
def _choices(model: type[Query]) -> dict[str, Sequence[str] | None]:
    """Return the filters of a query by name, with their choices."""
    properties = model.model_json_schema()["properties"]
    return {name: _enum(schema) for name, schema in properties.items() if name not in Page.model_fields}


def _enum(schema: dict[str, Any]) -> Sequence[str] | None:
    """Return the values of an enumeration, None for another schema."""
    found = (_enum(option) for option in schema.get("anyOf", ()))
    enumeration: Sequence[str] | None = schema.get("enum") or next(
        (values for values in found if values), None
    )
    return enumeration
