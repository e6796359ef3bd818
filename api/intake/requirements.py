"""The requirements of a document, each read once for all who ask about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from domain.job.names import recipes_of
from domain.requirements.distro import DISTRO
from domain.requirements.findings import Path
from domain.requirements.host import HOST
from domain.requirements.language import Language, Reading

LANGUAGES: Final[Mapping[str, Language]] = {"distro_requires": DISTRO, "host_requires": HOST}

NOTHING_REQUIRED: Final = DISTRO.examine({})


class Required(NamedTuple):
    """A recipe of a document that need not be sound, and what was read of its requirements, by field."""

    path: Path
    recipe: Mapping[str, Any]
    readings: Mapping[str, Reading]


def read_requirements(document: Mapping[str, Any]) -> list[Required]:
    """Of each recipe before its guests, in document order."""
    return [Required(path, recipe, _readings(recipe)) for path, recipe in recipes_of(document)]


def _readings(recipe: Mapping[str, Any]) -> dict[str, Reading]:
    return {
        field: language.examine(recipe[field])
        for field, language in LANGUAGES.items()
        if isinstance(recipe.get(field), dict)
    }
