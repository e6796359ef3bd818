"""Documents of YAML or JSON files. JSON is a part of YAML, but for tabs and the errors of its parser."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from api.intake.json_text import parse_json
from domain.errors import Fault, FaultyInput, Unreadable

if TYPE_CHECKING:
    import yaml


def read_document(file: IO[bytes]) -> dict[str, Any]:
    """Return the object in a YAML or JSON file.

    Raise Unreadable, also for a key that occurs twice, and for a file without content.
    """
    # Standard input may have no name.
    name, content = getattr(file, "name", "<stdin>"), file.read()
    read = _json if content.lstrip().startswith(b"{") else _yaml
    document = read(name, content)
    if not isinstance(document, dict):
        raise Unreadable([Fault(name, "must be an object")])
    return document


def _json(name: str, content: bytes) -> Any:
    try:
        return parse_json(content)
    except FaultyInput as error:
        raise Unreadable(Fault(f"{name}, {fault.where}", fault.message) for fault in error.faults) from None


def _yaml(name: str, content: bytes) -> Any:
    # Slow to import, and few commands need it.
    import yaml

    try:
        loader = yaml.SafeLoader(content)
        node = loader.get_single_node()
        for line, key in _repeated_keys(node):
            raise Unreadable([Fault(f"{name}, line {line}", f'"{key}" occurs twice')])
        if node is None:
            # A file of comments alone is empty, too.
            raise Unreadable([Fault(name, "is empty; {} resets a configuration to its defaults")])
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = name if mark is None else f"{name}, line {mark.line + 1}"
        problem = getattr(error, "problem", None) or str(error)
        raise Unreadable([Fault(where, f"is not YAML: {problem}")]) from None


def _repeated_keys(node: yaml.Node | None) -> list[tuple[int, str]]:
    """Return the line and the key of each key that occurs a second time in its mapping."""
    import yaml

    found: list[tuple[int, str]] = []
    if isinstance(node, yaml.MappingNode):
        keys: set[str] = set()
        for key, value in node.value:
            if key.value in keys:
                found.append((key.start_mark.line + 1, str(key.value)))
            keys.add(str(key.value))
            found += _repeated_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            found += _repeated_keys(value)
    return found
