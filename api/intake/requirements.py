"""The requirements of a document, each read once, with warnings about parts without effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from domain.directory.name_index import NameIndex
from domain.job.names import recipes_of
from domain.requirements.distro import DISTRO
from domain.requirements.empty import without_empty
from domain.requirements.excluded import with_other
from domain.requirements.findings import Finding, Path, Report
from domain.requirements.host import HOST
from domain.requirements.language import Language, ParsedRequirement
from domain.requirements.vocabulary import DISTRO_TREE, SYSTEM, Vocabulary

LANGUAGES: Final[Mapping[str, Language]] = {"distro_requires": DISTRO, "host_requires": HOST}
_VOCABULARIES: Final[Mapping[str, Vocabulary]] = {"distro_requires": DISTRO_TREE, "host_requires": SYSTEM}

NOTHING_REQUIRED: Final = DISTRO.examine({})
_NO_HOST_REQUIRED: Final = HOST.examine({})

# `recipe_sets`, `recipes` and `guests`, each with a number.
_GUEST_PATH_LENGTH: Final = 6
_OF_A_GUEST: Final = "has no effect: a guest runs on the system of its host"


class Required(NamedTuple):
    """A recipe of a document that may have faults, and the readings of its requirements, by field."""

    path: Path
    recipe: Mapping[str, Any]
    readings: Mapping[str, ParsedRequirement]


class Requirements(NamedTuple):
    """The requirements of all recipes, each recipe before its guests, in document order."""

    of_recipes: list[Required]
    warnings: list[Finding]


def read_requirements(document: Mapping[str, Any], names: NameIndex) -> Requirements:
    warnings: list[Finding] = []
    recipes = recipes_of(document)
    return Requirements([Required(*each, _readings(*each, names, warnings)) for each in recipes], warnings)


def _readings(
    path: Path, recipe: Mapping[str, Any], names: NameIndex, warnings: list[Finding]
) -> dict[str, ParsedRequirement]:
    readings: dict[str, ParsedRequirement] = {}
    for field, language in LANGUAGES.items():
        if not isinstance(recipe.get(field), dict):
            continue
        place = (*path, field)
        if field == "host_requires" and len(path) == _GUEST_PATH_LENGTH:
            readings[field] = _of_guest(recipe[field], place, warnings)
        else:
            vocabulary = _VOCABULARIES[field]
            form = without_empty(recipe[field], vocabulary, place, _noting(warnings))
            readings[field] = with_other(language.examine(form), vocabulary, names.has)
    return readings


def _noting(warnings: list[Finding]) -> Report:
    return lambda path, message: warnings.append(Finding(path, message))


def _of_guest(form: dict[str, Any], place: Path, warnings: list[Finding]) -> ParsedRequirement:
    """Return the readable part of a guest's host requirement: it has no effect, so faults are warnings."""
    reading = HOST.examine(form)
    if reading.findings or reading.node != _NO_HOST_REQUIRED.node:
        warnings.append(Finding(place, _OF_A_GUEST))
    warnings += [finding._replace(path=(*place, *finding.path)) for finding in reading.findings]
    return ParsedRequirement(reading.node, (), ())
