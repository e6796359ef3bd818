"""Evaluation of requirements for sample systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.requirements import Columns, Node, Path, Ternary, evaluate, parse
from domain.requirements.host import HOST

Form = dict[str, Any]
Inventory = Mapping[str, Any]


def read(form: Form) -> Node:
    """Return the tree of a valid form, without the implicit system type."""
    return parse({"and": [form, {"element": "system_type", "op": "like", "value": "%"}]}, refuse)


def refuse(path: Path, message: str) -> None:
    raise AssertionError(f"{path}: {message}")


def lab(inventories: Sequence[Inventory]) -> Columns:
    columns = Columns()
    for number, inventory in enumerate(inventories):
        columns.put(number, inventory)
    return columns


def evaluated(form: Form, inventories: Sequence[Inventory]) -> Ternary:
    return evaluate(read(form), lab(inventories))


def lab_answer(node: Node, inventories: Sequence[Inventory]) -> Ternary:
    return evaluate(node, lab(inventories))


def answer(form: Form, inventory: Inventory) -> bool | None:
    """Return the answer for one system: true, false, or None for unknown."""
    held = evaluated(form, [{"fqdn": "a.example.com", "type": "Machine", **inventory}])
    return True if held.true else None if held.unknown else False


def messages(form: Any) -> list[tuple[Path, str]]:
    return [tuple(finding[:2]) for finding in HOST.examine(form).findings]  # type: ignore[misc]
