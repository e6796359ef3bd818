"""JSON schema in words, for tables in a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

REF = "#/components/schemas/"
PLAIN = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
# A list of choices that is longer tells nobody anything.
MOST_CHOICES = 15
# What is no bound: ids, counts and positions go as far as numbers do.
LEAST_BOUND = 2**31 - 1


def words(schema: Schema) -> str:
    """What a value may be; a shape is a link to its table."""
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
    if len(values) > MOST_CHOICES:
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
    least, most = schema.get("minimum"), schema.get("maximum", schema.get("exclusiveMaximum"))
    if most is not None and most < LEAST_BOUND:
        yield f"from {least} to {most}"
    elif least:
        yield f"from {least}"


def fields(schema: Schema) -> Iterator[tuple[str, str, str]]:
    """Name, what it may be, and what holds where it is left out."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        yield name, words(field), "" if name in required else _left_out(field)


def _left_out(field: Schema) -> str:
    if field.get("default") in (None, "", [], {}):
        return "optional"
    default = field["default"]
    return f"optional, {str(default).lower() if isinstance(default, bool) else default}"
