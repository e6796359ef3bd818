"""/openapi.json: its schemas use the standard vocabulary of JSON schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.docs.api_reference import document

# Keywords of JSON schema 2020-12 in use.
OF_BOUNDS = {"maximum", "minimum", "exclusiveMaximum", "maxLength", "minLength", "pattern"}
OF_FORMS = {"$ref", "type", "enum", "const", "format", "required", "maxItems", "minItems", "maxProperties"}
OF_PEOPLE = {"title", "description", "default"}
OF_NAMES = ("properties", "patternProperties")
OF_LISTS = ("anyOf",)
OF_ONE = ("items", "additionalProperties", "propertyNames")
WORDS = OF_BOUNDS | OF_FORMS | OF_PEOPLE | {*OF_NAMES, *OF_LISTS, *OF_ONE}


def test_schema__every_bound_and_form__is_said_in_words_of_json_schema() -> None:
    api = document()
    shapes = dict(api["components"]["schemas"])
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            for parameter in operation["parameters"]:
                shapes[f"{method} {path} {parameter['name']}"] = parameter["schema"]
    said = [(where, word) for name, shape in shapes.items() for where, word in words(shape, name)]
    assert [(where, word) for where, word in said if word not in WORDS] == []
    assert {word for _, word in said} >= OF_BOUNDS


def words(schema: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield every keyword of a schema and its subschemas, with its place."""
    if not isinstance(schema, Mapping):
        return
    for word, value in schema.items():
        yield where, word
        if word in OF_NAMES:
            for name, inner in value.items():
                yield from words(inner, f"{where}.{name}")
        elif word in OF_LISTS:
            for inner in value:
                yield from words(inner, where)
        elif word in OF_ONE:
            yield from words(value, where)
