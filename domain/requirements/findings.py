"""What is wrong inside a document, told by path; whoever knows the lines turns a path into a place."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
Report: TypeAlias = Callable[[Path, str], None]


class Finding(NamedTuple):
    """`unknown` is an unknown element as it was spelled, `known` all spellings there are."""

    path: Path
    message: str
    unknown: str | None = None
    known: Collection[str] = ()


def dotted(path: Path) -> str:
    """`("recipe_sets", 0, "priority")` as `recipe_sets[0].priority`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")
