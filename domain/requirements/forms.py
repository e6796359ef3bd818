"""Conversion of a requirement tree to its JSON form, and to its canonical text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from domain.requirements.nodes import All, Compatible, Device, Disk, Either, Forced, KeyValue, Leaf, Node, Not

_JOINED: Mapping[type[Node], str] = {All: "and", Either: "or", Not: "not", Disk: "disk"}


def to_form(node: Node) -> dict[str, Any]:
    """Return the JSON form of a tree; parsing the form gives an equal tree."""
    match node:
        case All(children) | Either(children) | Not(children):
            return {_JOINED[type(node)]: _forms(children)}
        case Disk(inner):
            return {"disk": _forms(_on_disk(inner))}
        case Leaf(element, op, value):
            return {"element": element, "op": op, "value": value}
        case KeyValue(key, op, value):
            form = {"element": "key_value", "key": key, "op": op}
            return form if value is None else {**form, "value": value}
        case Device(op, attributes):
            return {"element": "device", "op": op, **dict(attributes)}
        case Compatible(arch, family, version):
            form = {"element": "system/compatible_with_distro", "arch": arch, "osmajor": family}
            return form if version is None else {**form, "osminor": version}
        case Forced(fqdn):
            return {"force": fqdn}


def _forms(children: Iterable[Node]) -> list[dict[str, Any]]:
    return [to_form(child) for child in children]


def _on_disk(inner: Node) -> tuple[Node, ...]:
    return inner.children if isinstance(inner, All) else (inner,)


def to_text(node: Node) -> str:
    """Return the canonical text, with children sorted by their texts: their order has no effect."""
    match node:
        case All(children) | Either(children) | Not(children):
            return _joined(node, children)
        case Disk(inner):
            return _joined(node, _on_disk(inner))
        case _:
            return json.dumps(to_form(node), sort_keys=True, separators=(",", ":"))


def _joined(node: Node, children: Iterable[Node]) -> str:
    return f'{{"{_JOINED[type(node)]}":[{",".join(sorted(map(to_text, children)))}]}}'
