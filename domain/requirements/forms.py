"""From a tree back to its JSON form, and to the one text that equal requirements share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from domain.requirements.nodes import All, Device, Disk, Either, Forced, KeyValue, Leaf, Node, Not


def to_form(node: Node) -> dict[str, Any]:
    """The form that `parse` reads into an equal tree."""
    match node:
        case Leaf(element, op, value):
            return {"element": element, "op": op, "value": value}
        case KeyValue(key, op, value):
            form = {"element": "key_value", "key": key, "op": op}
            return form if value is None else {**form, "value": value}
        case Device(op, attributes):
            return {"element": "device", "op": op, **dict(attributes)}
        case Disk(inner):
            return {"disk": _forms(inner.children if isinstance(inner, All) else (inner,))}
        case Forced(fqdn):
            return {"force": fqdn}
        case All(children):
            return {"and": _forms(children)}
        case Either(children):
            return {"or": _forms(children)}
        case Not(children):
            return {"not": _forms(children)}


def _forms(children: Iterable[Node]) -> list[dict[str, Any]]:
    return [to_form(child) for child in children]


def to_text(node: Node) -> str:
    return json.dumps(to_form(node), sort_keys=True, separators=(",", ":"))
