"""JSON schemas in words, for tables in a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

REF = "#/components/schemas/"
PLAIN = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
# Longer lists of choices are not shown.
MAX_CHOICES = 15
# Maxima from here on are limits of the number type, not shown.
MIN_TYPE_LIMIT = 2**31 - 1


def words(schema: Schema) -> str:
    """Return the type of a value in words; a shape is a link to its table."""
    if "$ref" in schema:
        return link(schema["$ref"].removeprefix(REF))
    if "anyOf" in schema:
        return " or ".join(words(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return _choices(schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type")
    if kind == "array":
        return f"list of {words(schema['items'])}"
    if kind == "object":
        return _mapping(schema)
    if kind == "null":
        return "null"
    return " ".join([_plain(schema), *_bounds(schema)])


def link(name: str) -> str:
    return f"[{name}](#{anchor(name)})"


def anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _plain(schema: Schema) -> str:
    if schema.get("format") == "date-time":
        return "time"
    return PLAIN.get(str(schema.get("type")), "any JSON")


def _choices(values: list[str]) -> str:
    if len(values) > MAX_CHOICES:
        return f"one of {len(values)} words such as `{values[0]}`"
    return ", ".join(f"`{value}`" for value in values)


def _mapping(schema: Schema) -> str:
    inner = schema.get("additionalProperties")
    for found in (schema.get("patternProperties") or {}).values():
        inner = found
    if isinstance(inner, Mapping):
        return f"object of {words(inner)}"
    return "object"


def _bounds(schema: Schema) -> Iterator[str]:
    minimum, maximum = schema.get("minimum"), schema.get("maximum", schema.get("exclusiveMaximum"))
    if maximum is not None and maximum < MIN_TYPE_LIMIT:
        yield f"from {minimum} to {maximum}"
    elif minimum:
        yield f"from {minimum}"


def fields(schema: Schema) -> Iterator[tuple[str, str, str]]:
    """Yield the name and type of each field, and whether it is optional."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        yield name, words(field), "" if name in required else _left_out(field)


def _left_out(field: Schema) -> str:
    if field.get("default") in (None, "", [], {}):
        return "optional"
    default = field["default"]
    return f"optional, {str(default).lower() if isinstance(default, bool) else default}"
