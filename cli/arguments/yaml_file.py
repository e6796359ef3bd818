"""Documents of YAML or JSON files. JSON is a part of YAML, but for tabs and the errors of its parser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

from api.intake.json_text import parse_json
from domain.errors import Fault, FaultyInput, Unreadable
from domain.requirements.findings import Path, dotted

if TYPE_CHECKING:
    import yaml
    from yaml.reader import ReaderError

# The message of the server for a value that is no text.
NO_TEXT = "must be text"


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
        for line, value in _dates(node):
            raise Unreadable([Fault(f"{name}, line {line}", f"{value} is a date: put it in quotes")])
        if node is None:
            # A file of comments alone is empty, too.
            raise Unreadable([Fault(name, "is empty; {} resets a configuration to its defaults")])
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        at, problem = _problem_of(content, error)
        where = name if at is None else f"{name}, line {at}"
        raise Unreadable([Fault(where, f"is not YAML: {problem}")]) from None


def _problem_of(content: bytes, error: yaml.YAMLError) -> tuple[int | None, str]:
    """Return the line of an error, None if it is unknown, and its message on one line."""
    from yaml.reader import ReaderError

    if isinstance(error, ReaderError):
        # The second line of the message names a position in bytes or characters.
        return _line_of_character(content, error), str(error).partition("\n")[0]
    mark = getattr(error, "problem_mark", None)
    return None if mark is None else mark.line + 1, getattr(error, "problem", None) or str(error)


def _line_of_character(content: bytes, error: ReaderError) -> int | None:
    """Return the line of a character that YAML does not allow; None in UTF-16."""
    if error.encoding == "utf-8":
        # Bytes that are no character: the position counts bytes.
        return content.count(b"\n", 0, error.position) + 1
    try:
        return content.decode().count("\n", 0, error.position) + 1
    except UnicodeDecodeError:
        return None


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


def _dates(node: yaml.Node | None) -> list[tuple[int, str]]:
    """Return the line and the text of each date, which JSON does not have."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        return [found for pair in node.value for part in pair for found in _dates(part)]
    if isinstance(node, yaml.SequenceNode):
        return [found for value in node.value for found in _dates(value)]
    is_date = node is not None and node.tag == "tag:yaml.org,2002:timestamp"
    return [(node.start_mark.line + 1, node.value)] if node is not None and is_date else []


def with_quotes_advised(faults: Iterable[Fault], document: Any) -> tuple[Fault, ...]:
    """Return faults of a document, with advice if a number or a boolean stands where a text must be.

    YAML reads `12` and `yes` without quotes as such values.
    """
    unquoted = {dotted(path) for path in _paths_of_unquoted(document, ())}
    return tuple(
        Fault(fault.where, f"{NO_TEXT}: put it in quotes")
        if fault.message == NO_TEXT and fault.where in unquoted
        else fault
        for fault in faults
    )


def _paths_of_unquoted(value: Any, path: Path) -> Iterator[Path]:
    """Yield the paths of the numbers and booleans in a document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths_of_unquoted(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths_of_unquoted(inner, (*path, index))
    elif isinstance(value, int | float):
        yield path
