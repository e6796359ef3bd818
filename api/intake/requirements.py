"""Parsing of the requirements of a document, with warnings about parts without effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from domain.directory.name_index import NameIndex
from domain.job.names import recipes_of
from domain.requirements.distro import DISTRO
from domain.requirements.findings import Finding, Path, Report
from domain.requirements.host import HOST
from domain.requirements.language import Language, ParsedRequirement
from domain.requirements.submitted import with_other, without_empty
from domain.requirements.vocabulary import DISTRO_TREE, SYSTEM, Vocabulary

LANGUAGES: Final[Mapping[str, Language]] = {"distro_requires": DISTRO, "host_requires": HOST}
_VOCABULARIES: Final[Mapping[str, Vocabulary]] = {"distro_requires": DISTRO_TREE, "host_requires": SYSTEM}

NOTHING_REQUIRED: Final = DISTRO.examine({})
_NO_HOST_REQUIRED: Final = HOST.examine({})

# A guest's path has three fields, `recipe_sets`, `recipes` and `guests`, each followed by a number.
_GUEST_PATH_LENGTH: Final = 6
_NO_EFFECT_ON_GUEST: Final = "has no effect: a guest runs on the system of its host"


class RecipeRequirements(NamedTuple):
    """A recipe of a document, which may have faults, and its parsed requirements by field."""

    path: Path
    recipe: Mapping[str, Any]
    parsed: Mapping[str, ParsedRequirement]


class Requirements(NamedTuple):
    """The requirements of all recipes, each recipe before its guests, in document order."""

    of_recipes: list[RecipeRequirements]
    warnings: list[Finding]


def read_requirements(document: Mapping[str, Any], names: NameIndex) -> Requirements:
    warnings: list[Finding] = []
    items = recipes_of(document)
    recipes = [RecipeRequirements(*item, _parsed(*item, names, warnings)) for item in items]
    return Requirements(recipes, warnings)


def _parsed(
    path: Path, recipe: Mapping[str, Any], names: NameIndex, warnings: list[Finding]
) -> dict[str, ParsedRequirement]:
    parsed: dict[str, ParsedRequirement] = {}
    for field, language in LANGUAGES.items():
        if not isinstance(recipe.get(field), dict):
            continue
        field_path = (*path, field)
        if field == "host_requires" and len(path) == _GUEST_PATH_LENGTH:
            parsed[field] = _parse_of_guest(recipe[field], field_path, warnings)
        else:
            vocabulary = _VOCABULARIES[field]
            form = without_empty(recipe[field], vocabulary, field_path, _append_to(warnings))
            parsed[field] = with_other(language.examine(form), vocabulary, names.has)
    return parsed


def _append_to(warnings: list[Finding]) -> Report:
    return lambda path, message: warnings.append(Finding(path, message))


def _parse_of_guest(form: dict[str, Any], path: Path, warnings: list[Finding]) -> ParsedRequirement:
    """Return a guest's host requirement without faults: it has no effect, so its faults become warnings."""
    parsed = HOST.examine(form)
    if parsed.findings or parsed.node != _NO_HOST_REQUIRED.node:
        warnings.append(Finding(path, _NO_EFFECT_ON_GUEST))
    warnings += [finding._replace(path=(*path, *finding.path)) for finding in parsed.findings]
    return ParsedRequirement(parsed.node, (), ())
