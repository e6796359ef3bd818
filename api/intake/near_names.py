"""Suggestions for unknown names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from domain.directory.name_index import NameIndex
from domain.job.names import UnknownName

MAX_NAME_LENGTH = 100
# A list of all fields of a system would hide the message.
MAX_NAMES_IN_MESSAGE = 12

# Minimum similarity of two names, from 0 to 1. Hosts of one domain are always similar.
ALIKE = 0.6
HOSTS_ALIKE = 0.85


def suggestion(name: str, names: Iterable[str], alike: float = ALIKE, shown: str = "{}") -> str:
    """Return `; did you mean memory_mb?`, or an empty text."""
    # The comparison takes the square of the length.
    close = get_close_matches(name, list(names), n=1, cutoff=alike) if len(name) <= MAX_NAME_LENGTH else []
    return f"; did you mean {shown.format(close[0])}?" if close else ""


def fields_hint(names: Iterable[str]) -> str:
    """Return `; the fields are a, b`, or an empty text if there are more than `MAX_NAMES_IN_MESSAGE`."""
    sorted_names = sorted(names)
    is_short = 0 < len(sorted_names) <= MAX_NAMES_IN_MESSAGE
    return f"; the fields are {', '.join(sorted_names)}" if is_short else ""


def unknown(name: UnknownName, shown: NameIndex) -> str:
    """Return the message for an unknown name, with a similar one of the shown names."""
    around = shown.similar(name.kind, name.name)
    return name.message + suggestion(name.name, around, HOSTS_ALIKE if "." in name.name else ALIKE)


def is_a_field(model: type[BaseModel], name: str) -> bool:
    """Return whether the model has this field anywhere: then the field is misplaced, not misspelt."""
    return name in _all_fields(model)


@cache
def _all_fields(model: type[BaseModel]) -> frozenset[str]:
    inner = (each for field in model.model_fields.values() for each in _models_in(field.annotation))
    return frozenset(model.model_fields).union(*map(_all_fields, inner))


def fields_at(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """Return the fields that the model allows at a path."""
    models = [model]
    for step in path:
        if isinstance(step, str):
            found = (one.model_fields[step].annotation for one in models if step in one.model_fields)
            models = [inner for annotation in found for inner in _models_in(annotation)]
    return [field for one in models for field in one.model_fields]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)
