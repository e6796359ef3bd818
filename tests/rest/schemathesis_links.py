"""Links from each answer to further requests: an object is written, then shown, changed and removed.

`/openapi.json` has no links; these follow from its paths and from the names of fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Document = dict[str, Any]

POSITION = "$response.body#/position"
# A field of an answer that is a list of ids -> the parameter that takes one of them.
LISTED = {"recipe_set_ids": "recipe_set_id", "recipe_ids": "recipe_id"}
# Collections whose names differ between paths and answers.
FIRST = {"/lab-controllers": "lab_controllers/0/fqdn", "/distro-trees": "distro_trees/0/id"}


def add_links(document: Document) -> None:
    """Add links from each write to all operations on the same object, as of the position of the write."""
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for path, method, operation in operations:
        if method != "get" or path in FIRST:
            done = next(status for status in ("201", "200") if status in operation["responses"])
            given_by = dict(_parameters_of(document, path, operation["responses"][done]))
            operation["responses"][done]["links"] = {
                target["operationId"]: _link(target, given_by)
                for to, _, target in operations
                if _about_the_same(path, to) and _in_path(target) and _in_path(target) <= given_by.keys()
            }


def _parameters_of(document: Document, path: str, answer: Document) -> Iterator[tuple[str, str]]:
    """Yield the parameters that an answer or its path determines."""
    if path in FIRST:
        yield "name", f"$response.body#/{FIRST[path]}"
    for part in path.split("/"):
        if part.startswith("{"):
            yield part[1:-1], f"$request.path.{part[1:-1]}"
    for field in _fields(document, answer):
        if field in LISTED:
            yield LISTED[field], f"$response.body#/{field}/0"
        else:
            yield field, f"$response.body#/{field}"


def _fields(document: Document, answer: Document) -> list[str]:
    reference = answer["content"]["application/json"]["schema"]["$ref"]
    shape: Document = document["components"]["schemas"][reference.rpartition("/")[2]]
    return list(shape["properties"])


def _about_the_same(path: str, to: str) -> bool:
    """Return whether both paths are below the same collection; jobs lead to their sets and recipes."""
    beside = {"jobs": ("jobs", "recipe-sets", "recipes")}
    first = path.split("/")[1]
    return to.split("/")[1] in beside.get(first, (first,))


def _in_path(operation: Document) -> set[str]:
    return {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "path"}


def _link(target: Document, given_by: dict[str, str]) -> Document:
    parameters = {name: given_by[name] for name in sorted(_in_path(target))}
    given = {parameter["name"] for parameter in target["parameters"]}
    parameters |= {name: POSITION for name in ("min_position", "as_of") if name in given}
    return {"operationId": target["operationId"], "parameters": parameters}
