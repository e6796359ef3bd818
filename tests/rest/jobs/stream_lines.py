"""Lines of streams of jobs, and their answers."""

from __future__ import annotations

from typing import Any

OPEN = b'{"open": true, "recipe_sets": []}\n'


def numbered(answers: list[Any]) -> list[tuple[int, int]]:
    """Return the number and the status of each line."""
    return [(answer["line"], answer["status"]) for answer in answers]
