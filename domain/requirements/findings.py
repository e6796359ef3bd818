"""Findings in a document, by path; `api.intake.locations` converts a path to a line."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
Report: TypeAlias = Callable[[Path, str], None]


class Finding(NamedTuple):
    """A message at a path. For an unknown element, `unknown` is its spelling, `spellings` the valid ones."""

    path: Path
    message: str
    unknown: str | None = None
    spellings: Collection[str] = ()


def dotted(path: Path) -> str:
    """Return `recipe_sets[0].priority` for the path `("recipe_sets", 0, "priority")`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")
