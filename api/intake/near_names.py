"""Suggestions of similar names for unknown ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from domain.directory.name_index import NameIndex
from domain.job.names import UnknownName

MAX_NAME_LENGTH = 100
# More names would hide the message.
MAX_NAMES_IN_MESSAGE = 12

# Minimum similarity of two names, from 0 to 1. Host names of one domain are always similar.
MIN_SIMILARITY = 0.6
MIN_HOST_SIMILARITY = 0.85


def suggestion(
    name: str, names: Iterable[str], min_similarity: float = MIN_SIMILARITY, template: str = "{}"
) -> str:
    """Return `; did you mean memory_mb?`, or an empty text if no name is similar."""
    # The time of a comparison grows with the square of the length.
    if len(name) > MAX_NAME_LENGTH:
        return ""
    close = get_close_matches(name, list(names), n=1, cutoff=min_similarity)
    return f"; did you mean {template.format(close[0])}?" if close else ""


def host_suggestion(name: str, names: Iterable[str]) -> str:
    """Return `; did you mean x86-01.example.com?`, also for a host without its domain, or an empty text."""
    names = list(names)
    if "." in name:
        return suggestion(name, names, MIN_HOST_SIMILARITY)
    host_of = {each.partition(".")[0].casefold(): each for each in reversed(names)}
    if same := host_of.get(name.casefold()):
        return f"; did you mean {same}?"
    close = get_close_matches(name.casefold(), list(host_of), n=1) if len(name) <= MAX_NAME_LENGTH else []
    return f"; did you mean {host_of[close[0]]}?" if close else ""


def fields_hint(names: Iterable[str]) -> str:
    """Return `; the fields are a, b`, or an empty text for no names or more than MAX_NAMES_IN_MESSAGE."""
    sorted_names = sorted(names)
    is_short = 0 < len(sorted_names) <= MAX_NAMES_IN_MESSAGE
    return f"; the fields are {', '.join(sorted_names)}" if is_short else ""


def unknown_name_message(name: UnknownName, visible: NameIndex) -> str:
    min_similarity = MIN_HOST_SIMILARITY if "." in name.name else MIN_SIMILARITY
    return name.message + suggestion(name.name, visible.similar(name.kind, name.name), min_similarity)


def has_field(model: type[BaseModel], name: str) -> bool:
    """Return whether the model or a nested one has this field: then it is misplaced, not misspelt."""
    return name in _all_fields(model)


@cache
def _all_fields(model: type[BaseModel]) -> frozenset[str]:
    nested = (inner for field in model.model_fields.values() for inner in _models_in(field.annotation))
    return frozenset(model.model_fields).union(*map(_all_fields, nested))


def fields_at(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    models = [model]
    for step in path:
        if isinstance(step, str):
            fields = (model.model_fields[step] for model in models if step in model.model_fields)
            models = [inner for field in fields for inner in _models_in(field.annotation)]
    return [name for model in models for name in model.model_fields]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)
