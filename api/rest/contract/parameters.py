"""Path, query and header parameters, in OpenAPI form."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from api.headers import ACTS_AS, IDEMPOTENCY_KEY, LENIENT, PREFER
from api.rest.contract.operation import Operation
from api.rest.contract.queries import Query
from api.rest.contract.values import FQDN_PATTERN
from domain.characters import NAME_PATTERN
from domain.directory.roles import LAB_CONTROLLER, SUBMITTER

Parameter = dict[str, Any]

# A parameter in a path: `{job_id:int(min=1, max=2147483647)}` or `{name}`.
_IN_PATH = re.compile(r"\{(\w+)(?::int\((.*?)\))?\}")
_BOUNDS = {"min": "minimum", "max": "maximum"}
MAX_KEY_LENGTH = 255

_FQDN = {"type": "string", "pattern": FQDN_PATTERN, "maxLength": 253}
_NAME = {"type": "string", "pattern": NAME_PATTERN, "maxLength": 255}
_NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}

# Path prefix -> schema of the name in it, if it is not _NAME.
_NAMES = {"/lab-controllers/{name}": _FQDN, "/distro-trees/{name}": _NUMBER}


def path_parameters(path: str) -> Iterator[Parameter]:
    for name, bounds in _IN_PATH.findall(path):
        yield {"name": name, "in": "path", "required": True, "schema": _in_path(path, name, bounds)}


def _in_path(path: str, name: str, bounds: str) -> dict[str, Any]:
    if bounds:
        pairs = (bound.split("=") for bound in bounds.split(","))
        return {"type": "integer", **{_BOUNDS[key.strip()]: int(value) for key, value in pairs}}
    if name == "fqdn":
        return _FQDN
    return next((shape for start, shape in _NAMES.items() if path.startswith(start)), _NAME)


def query_parameters(query: type[Query]) -> Iterator[Parameter]:
    schema = query.model_json_schema()
    for name, shape in schema.get("properties", {}).items():
        described = {key: value for key, value in shape.items() if key not in ("title", "description")}
        yield {
            "name": name,
            "in": "query",
            "description": shape.get("description", ""),
            "schema": _without_null(described),
        }


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without null, which a query cannot contain."""
    kept = {key: value for key, value in schema.items() if not (key == "default" and value in (None, []))}
    choices = [choice for choice in kept.pop("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        return {**kept, **choices[0]}
    return {**kept, "anyOf": choices} if choices else kept


def header_parameters(operation: Operation, method: str) -> Iterator[Parameter]:
    if operation.keyed:
        yield {
            "name": IDEMPOTENCY_KEY,
            "in": "header",
            "description": "a repeated request with the same key and body gets the first answer again",
            "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH},
        }
    if operation.lenient is not None:
        yield {
            "name": PREFER,
            "in": "header",
            "description": f"with `{LENIENT}` each valid item of a list is processed, even if others are not",
            "schema": {"type": "string", "enum": [LENIENT, "handling=strict"]},
        }
    if operation.versioned and method != "GET":
        yield {
            "name": "If-Match",
            "in": "header",
            "description": "the ETag of the version that was read; 412 if the resource has changed since",
            "schema": {"type": "string", "pattern": r'^(\*|"[0-9]{1,18}")$'},
        }


def lab_parameters(roles: Collection[str]) -> Iterator[Parameter]:
    """Yield the header for admins who act as lab controllers, for operations of lab controllers."""
    if LAB_CONTROLLER in roles and SUBMITTER not in roles:
        yield {
            "name": ACTS_AS,
            "in": "header",
            "description": "for admins: FQDN of the lab controller to act as, which counts as its contact",
            "schema": _FQDN,
        }
