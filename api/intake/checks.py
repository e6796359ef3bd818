"""Validation of the values of a document, from XML or JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from api.intake.document import Job
from api.intake.limits import MAX_FAULTS, MAX_RECIPES_IN_JOB, MAX_RECIPES_IN_SET
from api.intake.locations import Locations
from api.intake.model_words import error_message
from api.intake.near_names import fields_at, has_field, suggestion
from api.intake.requirements import LANGUAGES, RecipeRequirements
from domain.directory.name_index import NameIndex
from domain.job.names import objects, owner_findings
from domain.job.retention_tags import RetentionTags
from domain.requirements.findings import Finding
from domain.requirements.language import Language, ParsedRequirement
from domain.requirements.nodes import Forced

# Longer texts are not cached: they are rare and hardly occur twice.
MAX_CACHED_LENGTH: Final = 4_096

# The length of the path of a host recipe: `recipe_sets[0].recipes[0]`.
_HOST_DEPTH: Final = 4

# Type of error -> message in a job; `error_message` has those of all other types.
_MESSAGES: Final[Mapping[str, Callable[[ErrorDetails], str]]] = {
    "extra_forbidden": lambda error: _unknown_field(error["loc"]),
    "string_pattern_mismatch": lambda _: "must be an email address",
}


def check_document(
    document: dict[str, Any],
    recipes: Sequence[RecipeRequirements],
    locations: Locations,
    names: NameIndex,
    submitter: str,
    tags: RetentionTags,
    *,
    is_admin: bool,
) -> tuple[Job | None, list[Finding]]:
    """Return the job, None if its fields are invalid, and all faults. `recipes` are those of the job."""
    job, findings = _shape(document, locations)
    findings += _sets(document, locations)
    findings += _sizes(recipes)
    findings += _alternatives(recipes, locations)
    findings += _requirements(recipes)
    findings += _retention(document, tags)
    findings += owner_findings(document, names, submitter, is_admin=is_admin)
    return job, findings


def _shape(document: dict[str, Any], locations: Locations) -> tuple[Job | None, list[Finding]]:
    try:
        return Job.model_validate(document), []
    except ValidationError as invalid:
        errors = invalid.errors(include_url=False, include_input=False)
        findings = [_finding(error, locations) for error in errors[:MAX_FAULTS]]
        # The others are only counted.
        return None, findings + [Finding((), "is wrong")] * (len(errors) - len(findings))


def _finding(error: ErrorDetails, locations: Locations) -> Finding:
    """Return the finding of an error: of a missing part at its parent, of an invalid key at its member."""
    path = error["loc"]
    if error["type"] == "missing":
        return Finding(path[:-1], f"has no {locations.word(str(path[-1]))}")
    if path and path[-1] == "[key]":
        path = path[:-1]
    return Finding(path, job_error_message(error))


def job_error_message(error: ErrorDetails) -> str:
    message = _MESSAGES.get(error["type"])
    return message(error) if message else error_message(error)


def _unknown_field(path: tuple[int | str, ...]) -> str:
    *parent, name = path
    field = str(name)
    allowed = () if has_field(Job, field) else fields_at(Job, tuple(parent))
    return f'unknown field "{field[:100]}"{suggestion(field, allowed)}'


def _sets(document: Mapping[str, Any], locations: Locations) -> Iterator[Finding]:
    """Yield faults of a job without sets, unless it is open, and of keys that name two sets."""
    if not document.get("recipe_sets") and document.get("open") is not True:
        if "recipe_sets" not in document:
            yield Finding((), f"has no {locations.word('recipe_sets')}")
        elif document["recipe_sets"] == []:
            yield Finding(
                ("recipe_sets",), "must not be empty; only an open job can be submitted without recipe sets"
            )
    seen: set[str] = set()
    for path, recipe_set in objects(document, (), "recipe_sets"):
        key = recipe_set.get("key")
        if isinstance(key, str) and key:
            if key in seen:
                yield Finding((*path, "key"), f'"{key}" is the key of another recipe set of the job')
            seen.add(key)


def _sizes(recipes: Sequence[RecipeRequirements]) -> Iterator[Finding]:
    """Yield faults of too many recipes: a set is placed as a whole, and a job is one commit."""
    if len(recipes) <= MAX_RECIPES_IN_SET:
        return
    for path, count in Counter(recipe.path[:2] for recipe in recipes).items():
        if count > MAX_RECIPES_IN_SET:
            yield Finding(path, f"has {count} recipes, guests included; {MAX_RECIPES_IN_SET} are allowed")
    if len(recipes) > MAX_RECIPES_IN_JOB:
        allowed = f"{MAX_RECIPES_IN_JOB} are allowed"
        yield Finding((), f"has {len(recipes)} recipes, guests included; {allowed}")


def too_large_sets(recipes: Iterable[RecipeRequirements], max_placed: int | None) -> Iterator[Finding]:
    """Yield faults of sets with more hosts than may be placed at once: such a set would never start."""
    if max_placed is None:
        return
    # The path of a guest is longer.
    hosts = Counter(recipe.path[:2] for recipe in recipes if len(recipe.path) == _HOST_DEPTH)
    for path, count in hosts.items():
        if count > max_placed:
            systems = "1 system" if count == 1 else f"{count} systems"
            maximum = f"the maximum of placed recipes (limits.placed_recipes) is {max_placed}"
            yield Finding(path, f"needs {systems}; {maximum}")


def _alternatives(recipes: Iterable[RecipeRequirements], locations: Locations) -> Iterator[Finding]:
    """Yield faults of alternative fields, such as `distro` or `distro_requires`."""
    for path, recipe, _ in recipes:
        required, own = locations.word("distro_requires"), locations.word("distro")
        if recipe.get("distro") is None:
            if recipe.get("distro_requires") is None:
                yield Finding(path, f"has neither {required} nor {own}")
        elif recipe.get("distro_requires") is not None:
            yield Finding((*path, "distro"), f"cannot be combined with {required}")
        for task_path, task in objects(recipe, path, "tasks"):
            if task.get("name") is None and task.get("fetch") is None:
                yield Finding(task_path, f"has no {locations.word('name')}")


def _requirements(recipes: Iterable[RecipeRequirements]) -> Iterator[Finding]:
    for path, _, parsed in recipes:
        for field, requirement in parsed.items():
            for finding in _requirement_faults(requirement, LANGUAGES[field]):
                yield finding._replace(path=(*path, field, *finding.path))


def _requirement_faults(requirement: ParsedRequirement, language: Language) -> Iterable[Finding]:
    """Return the faults of a requirement, or else of its canonical text, which is stored.

    The stored text must also be valid as XML, where it may be two levels deeper: the root of a requirement
    is a group, and some elements need another group around them.
    """
    if requirement.findings or isinstance(requirement.node, Forced):
        return requirement.findings
    text = requirement.text
    return (
        _cached_nested_faults(language, text)
        if len(text) <= MAX_CACHED_LENGTH
        else _nested_faults(language, text)
    )


def _nested_faults(language: Language, text: str) -> tuple[Finding, ...]:
    form = {"and": [{"and": [json.loads(text)]}]}
    return tuple(Finding((), finding.message) for finding in language.examine(form).findings[:1])


_cached_nested_faults = lru_cache(4_096)(_nested_faults)


def _retention(document: Mapping[str, Any], tags: RetentionTags) -> Iterator[Finding]:
    tag, product = document.get("retention_tag"), document.get("product") or None
    fault = tags.fault(tag.lower(), product) if isinstance(tag, str) else None
    if fault:
        field, message = fault
        yield Finding((field,) if field in document else (), message)
