"""What the job language knows and Labledger does not do yet: one row each, to be struck out when it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from domain.requirements.findings import Finding, Path

# Steps into lists; any other step is the name of a field.
EACH: Final = slice(0, None)
LATER: Final = slice(1, None)

Step: TypeAlias = str | slice
_RECIPE: Final[tuple[Step, ...]] = ("recipe_sets", EACH, "recipes", EACH)

NOT_YET: Final[tuple[tuple[tuple[Step, ...], str], ...]] = (
    (("recipe_sets", LATER), "more than one recipe set"),
    (("recipe_sets", EACH, "recipes", LATER), "more than one recipe in a set"),
    ((*_RECIPE, "guests", EACH), "a guest recipe"),
    ((*_RECIPE, "reservesys"), "reservesys"),
    ((*_RECIPE, "kickstart"), "a kickstart of one's own"),
    ((*_RECIPE, "distro"), "a distro of one's own"),
    ((*_RECIPE, "host_requires", "force"), "forcing a system"),
    ((*_RECIPE, "tasks", EACH, "fetch"), "fetching a task"),
)


def not_yet(document: Mapping[str, Any]) -> list[Finding]:
    """All of it that the document uses."""
    return [
        Finding(path, f"{what} is not supported yet")
        for steps, what in NOT_YET
        for path in _reach(document, steps, ())
    ]


def _reach(part: Any, steps: tuple[Step, ...], path: Path) -> Iterator[Path]:
    """The paths that the steps lead to and at which something stands."""
    if not steps:
        if part is not None:
            yield path
        return
    step, *rest = steps
    if isinstance(step, str):
        if isinstance(part, Mapping):
            yield from _reach(part.get(step), tuple(rest), (*path, step))
    elif isinstance(part, list):
        for index in range(*step.indices(len(part))):
            yield from _reach(part[index], tuple(rest), (*path, index))
