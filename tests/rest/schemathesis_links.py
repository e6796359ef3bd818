"""Where answers lead: what was written is then looked at, changed and removed, as a client would go on.

`/openapi.json` has no links; these follow from its paths and from the names of fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Document = dict[str, Any]

POSITION = "$response.body#/position"
# A field of an answer that is a list of ids -> the parameter that takes one of them.
LISTED = {"recipe_set_ids": "recipe_set_id", "recipe_ids": "recipe_id"}
# Lists of things that are called otherwise in paths than in answers.
FIRST = {"/lab-controllers": "lab_controllers/0/fqdn", "/distro-trees": "distro_trees/0/id"}


def add_links(document: Document) -> None:
    """From each write to everything about the same thing; it is read as that write has left it."""
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for path, method, operation in operations:
        if method != "get" or path in FIRST:
            done = next(status for status in ("201", "200") if status in operation["responses"])
            known = dict(_known(document, path, operation["responses"][done]))
            operation["responses"][done]["links"] = {
                target["operationId"]: _link(target, known)
                for to, _, target in operations
                if _about_the_same(path, to) and _in_path(target) and _in_path(target) <= known.keys()
            }


def _known(document: Document, path: str, answer: Document) -> Iterator[tuple[str, str]]:
    """The parameters that an answer tells of, by itself or else by its path."""
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
    """Below the same collection; jobs lead to what is in them."""
    beside = {"jobs": ("jobs", "recipe-sets", "recipes")}
    first = path.split("/")[1]
    return to.split("/")[1] in beside.get(first, (first,))


def _in_path(operation: Document) -> set[str]:
    return {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "path"}


def _link(target: Document, known: dict[str, str]) -> Document:
    parameters = {name: known[name] for name in sorted(_in_path(target))}
    given = {parameter["name"] for parameter in target["parameters"]}
    parameters |= {name: POSITION for name in ("min_position", "as_of") if name in given}
    return {"operationId": target["operationId"], "parameters": parameters}
