"""Ask one requirement of one system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.requirements import Columns, Node, Path, evaluate, parse
from domain.requirements.host import HOST

Form = dict[str, Any]


def read(form: Form) -> Node:
    """The tree of a form that must be sound, as it is: without the implicit type."""
    return parse({"and": [form, {"element": "system_type", "op": "like", "value": "%"}]}, refuse)


def refuse(path: Path, message: str) -> None:
    raise AssertionError(f"{path}: {message}")


def answer(form: Form, inventory: Mapping[str, Any]) -> bool | None:
    """True, False, or None for unknown."""
    columns = Columns()
    columns.put(0, {"fqdn": "a.example.com", "type": "Machine", **inventory})
    held = evaluate(read(form), columns)
    return True if held.true else None if held.unknown else False


def messages(form: Any) -> list[tuple[Path, str]]:
    return [tuple(finding) for finding in HOST.examine(form).findings]  # type: ignore[misc]
