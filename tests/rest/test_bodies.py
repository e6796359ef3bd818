"""The types of fields in bodies: `/openapi.json` declares them, and other types are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

import api.application  # noqa: F401  # imports all models of bodies
from api.intake.document import Partition, Reservesys
from api.rest.contract.inputs.beaker import OfSystem
from api.rest.contract.inputs.systems import Cpu, Disk
from api.rest.contract.values import Input

# Kind (type or format) of a field -> values of other types that Python would convert.
WRONG_VALUES: dict[str, tuple[Any, ...]] = {
    "integer": ("1", True, 1.5),
    "number": ("1.5", True),
    "boolean": ("true", 1, 0.0),
    # Seconds since 1970, and a date.
    "date-time": ("1700000000", 1700000000, "2026-01-01"),
}


def models(parent: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield the models of inputs. Answers that derive from inputs are skipped."""
    for child in parent.__subclasses__():
        if child.__module__.startswith("api.rest.contract.inputs."):
            yield child
        yield from models(child)


def kinds(schema: dict[str, Any]) -> set[str]:
    choices = schema.get("anyOf", [schema])
    return {choice.get("format") or choice.get("type", "") for choice in choices} - {"null"}


def properties(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of each field; a recursive model is among its own definitions."""
    schema = model.model_json_schema()
    found: dict[str, Any] = schema.get("properties") or schema["$defs"][model.__name__]["properties"]
    return found


FIELDS = [
    (model, name, kind)
    for model in (*models(Input), Partition, Reservesys)
    # The values of rows of CSV files are texts.
    if not issubclass(model, OfSystem)
    for name, schema in properties(model).items()
    for kind in sorted(kinds(schema) & WRONG_VALUES.keys())
]


@pytest.mark.parametrize(("model", "name", "kind"), FIELDS)
def test_field__value_of_another_kind__is_refused(model: type[BaseModel], name: str, kind: str) -> None:
    for value in WRONG_VALUES[kind]:
        with pytest.raises(ValidationError) as refused:
            model.model_validate({name: value})
        assert any(error["loc"][0] == name for error in refused.value.errors()), value


def test_fields__every_kind__has_a_field() -> None:
    assert {kind for _, _, kind in FIELDS} == set(WRONG_VALUES)


def test_number__written_with_a_point__is_a_number() -> None:
    assert Cpu.model_validate({"cores": 12.0, "speed_mhz": 2}).model_dump(exclude_none=True) == {
        "cores": 12,
        "speed_mhz": 2.0,
    }
    assert Disk.model_validate({"size_bytes": 2**62}).size_bytes == 2**62
