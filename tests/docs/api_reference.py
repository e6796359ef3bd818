"""Generator of the HTTP API reference: `python -m tests.docs.api_reference` writes the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from api.application import operations_of, resources
from api.rest.contract.openapi import describe, plain
from api.rest.contract.operation import JSON
from api.rest.routes import API_ROUTES
from tests.docs.shapes import fields, words

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api-reference.md"
REGENERATE = "python -m tests.docs.api_reference"
# Errors of every operation.
EVERYWHERE = ("400", "401", "403", "422", "429", "500", "503")
OWN_LAB = {plain(path) for path, route in API_ROUTES.items() if route.own_lab}
# Parameters of at least this many operations are listed once.
OFTEN = 4

_WORDS = ",\n".join(
    ", ".join(f"{status} {HTTPStatus(int(status)).phrase}" for status in part)
    for part in (EVERYWHERE[:4], EVERYWHERE[4:])
)

HEAD = f"""# API reference

Generated from the OpenAPI document by `{REGENERATE}`; change `api/rest/`, not this page.
A service answers that document at `GET /openapi.json`. [http.md](http.md) describes the API as a whole, with
examples.

Unless stated otherwise, bodies and answers are JSON, success is 200, and an error is a [Problem](#problem):
{_WORDS}.
"Also" lists further errors of an operation.
"""

Document = Mapping[str, Any]
Parameter = Mapping[str, Any]


def document() -> Document:
    """Return the OpenAPI document, built without a service behind the resources."""
    return describe(API_ROUTES, operations_of(resources(MagicMock())), version="")


def page() -> str:
    api = document()
    shared = _shared(api)
    lines = [HEAD, *_contents(api), *_parameters(shared)]
    for resource, paths in _by_resource(api).items():
        lines += [f"## Below /{resource}", ""]
        for path, method, operation in paths:
            lines += [*_operation(path, method, operation, shared), ""]
    lines += ["## Shapes", "", *_shapes(api)]
    return "\n".join(lines).rstrip() + "\n"


def _by_resource(api: Document) -> dict[str, list[tuple[str, str, Document]]]:
    """Group operations by the first part of their path."""
    found = defaultdict(list)
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            found[path.split("/")[1]].append((path, method.upper(), operation))
    return found


def _contents(api: Document) -> Iterator[str]:
    yield "| operation | |"
    yield "|---|---|"
    for paths in _by_resource(api).values():
        for path, method, operation in paths:
            yield f"| [{method} {path}](#{_heading_anchor(method, path)}) | {operation['summary']} |"
    yield ""


def _heading_anchor(method: str, path: str) -> str:
    """Return the anchor of a heading as Markdown viewers build it, with dashes for blanks."""
    return f"{method.lower()}-{''.join(letter for letter in path if letter.isalnum() or letter in '_-')}"


def _shared(api: Document) -> dict[tuple[str, str], Parameter]:
    """Return the parameters outside of paths that many operations have, by name and description."""
    count: dict[tuple[str, str], list[Parameter]] = defaultdict(list)
    for methods in api["paths"].values():
        for operation in methods.values():
            for parameter in operation["parameters"]:
                if parameter["in"] != "path":
                    count[_key(parameter)].append(parameter)
    return {key: found[0] for key, found in sorted(count.items()) if len(found) >= OFTEN}


def _key(parameter: Parameter) -> tuple[str, str]:
    return parameter["name"], parameter["description"]


def _parameters(shared: Mapping[tuple[str, str], Parameter]) -> Iterator[str]:
    yield "## Common parameters"
    yield ""
    yield from _table(shared.values())
    yield ""


def _table(parameters: Any) -> Iterator[str]:
    yield "| parameter | in | type | |"
    yield "|---|---|---|---|"
    for parameter in parameters:
        schema = parameter["schema"]
        default = f"; {schema['default']}" if schema.get("default") else ""
        text = f"{parameter['description']}{default}".replace("False", "false")
        yield f"| `{parameter['name']}` | {parameter['in']} | {words(schema)} | {text} |"


def _operation(path: str, method: str, operation: Document, shared: Mapping[Any, Any]) -> Iterator[str]:
    yield f"### {method} {path}"
    yield ""
    own_lab = " A lab controller may use only its own name." if path in OWN_LAB else ""
    yield f"{operation['summary']}. {operation.get('description', 'No token is needed.')}{own_lab}"
    yield ""
    parameters = [one for one in operation["parameters"] if one["in"] != "path"]
    own = [one for one in parameters if _key(one) not in shared]
    if own:
        yield from _table(own)
        yield ""
    if often := [f"`{one['name']}`" for one in parameters if _key(one) in shared]:
        yield f"- Common parameters: {', '.join(often)}"
    if "requestBody" in operation:
        yield f"- Body: {_content(operation['requestBody']['content'])}"
    yield from _answers(operation["responses"])


def _answers(responses: Document) -> Iterator[str]:
    done = next(status for status in responses if status.startswith("2"))
    answer = _content(responses[done]["content"]) or "nothing"
    yield f"- Answer: {answer}{'' if done == '200' else f', {done} {HTTPStatus(int(done)).phrase}'}"
    refused = [status for status in responses if status[0] in "45" and status not in EVERYWHERE]
    if refused:
        yield f"- Also: {', '.join(f'{status} {HTTPStatus(int(status)).phrase}' for status in refused)}"


def _content(content: Document) -> str:
    """Return the shape of JSON, and the other media types."""
    shape = content.get(JSON, {}).get("schema")
    kinds = [f"`{kind}`" for kind in content if kind != JSON]
    return ", or ".join([*([words(shape)] if shape else ["JSON"] if JSON in content else []), *kinds])


def _shapes(api: Document) -> Iterator[str]:
    for name, schema in sorted(api["components"]["schemas"].items()):
        yield f"### {name}"
        yield ""
        if description := schema.get("description"):
            yield " ".join(description.split())
            yield ""
        yield "| field | type | |"
        yield "|---|---|---|"
        for field, kind, left_out in fields(schema):
            yield f"| `{field}` | {kind} | {left_out} |"
        yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
