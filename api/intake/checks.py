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
from api.intake.model_words import words_of
from api.intake.near_names import fields_at, is_a_field, suggestion
from api.intake.places import TextPlaces
from api.intake.requirements import LANGUAGES, Required
from api.intake.unsupported import NOT_YET
from domain.directory.name_index import NameIndex
from domain.job.names import objects, owner_findings
from domain.job.retention import RetentionTags
from domain.requirements.findings import Finding
from domain.requirements.language import Language, ParsedRequirement
from domain.requirements.nodes import Forced

# Longer texts are not cached: they are rare and hardly occur twice.
KEPT_TEXT_LENGTH: Final = 4_096

# Type of error -> message in a job; without a row, the message of `words_of`.
_WORDS: Final[Mapping[str, Callable[[ErrorDetails], str]]] = {
    "extra_forbidden": lambda error: _unknown_field(error["loc"]),
    "string_pattern_mismatch": lambda _: "must be an email address",
}


def check_document(
    document: dict[str, Any],
    recipes: Sequence[Required],
    places: TextPlaces,
    names: NameIndex,
    submitter: str,
    tags: RetentionTags,
    *,
    is_admin: bool,
) -> tuple[Job | None, list[Finding]]:
    """Return the job, None if its shape is invalid, and all faults. `recipes` are those of the job."""
    job, findings = _shape(document, places)
    findings += _sizes(recipes)
    findings += _alternatives(recipes, places)
    findings += _requirements(recipes)
    findings += _retention(document, tags)
    findings += owner_findings(document, names, submitter, is_admin=is_admin)
    return job, findings


def _shape(document: dict[str, Any], places: TextPlaces) -> tuple[Job | None, list[Finding]]:
    try:
        return Job.model_validate(document), []
    except ValidationError as wrong:
        errors = wrong.errors(include_url=False, include_input=False)
        worded = [_finding(error, places) for error in errors[:MAX_FAULTS]]
        # The others are only counted.
        return None, worded + [Finding((), "is wrong")] * (len(errors) - len(worded))


def _finding(error: ErrorDetails, places: TextPlaces) -> Finding:
    """Return the finding of an error: a missing part at its parent, a wrong key at its member."""
    path = error["loc"]
    if error["type"] == "missing":
        return Finding(path[:-1], f"has no {places.word(str(path[-1]))}")
    if path and path[-1] == "[key]":
        path = path[:-1]
    return Finding(path, words_in_a_job(error))


def words_in_a_job(error: ErrorDetails) -> str:
    words = _WORDS.get(error["type"])
    return words(error) if words else words_of(error)


def _unknown_field(path: tuple[int | str, ...]) -> str:
    *around, name = path
    field = str(name)
    if field in NOT_YET.values():
        return f'"{field}" is not supported yet'
    allowed = () if is_a_field(Job, field) else fields_at(Job, tuple(around))
    return f'unknown field "{field[:100]}"{suggestion(field, allowed)}'


def _sizes(recipes: Sequence[Required]) -> Iterator[Finding]:
    """Yield faults of size: a set is placed as a whole, and a job is one commit."""
    if len(recipes) <= MAX_RECIPES_IN_SET:
        return
    for path, count in Counter(required.path[:2] for required in recipes).items():
        if count > MAX_RECIPES_IN_SET:
            yield Finding(path, f"has {count} recipes, guests included; {MAX_RECIPES_IN_SET} are allowed")
    if len(recipes) > MAX_RECIPES_IN_JOB:
        allowed = f"{MAX_RECIPES_IN_JOB} are allowed"
        yield Finding((), f"has {len(recipes)} recipes, guests included; {allowed}")


def _alternatives(recipes: Iterable[Required], places: TextPlaces) -> Iterator[Finding]:
    """Yield faults of alternative fields, which a model of single fields cannot express."""
    for path, recipe, _ in recipes:
        required, own = places.word("distro_requires"), places.word("distro")
        if recipe.get("distro") is None:
            if recipe.get("distro_requires") is None:
                yield Finding(path, f"has neither {required} nor {own}")
        elif recipe.get("distro_requires") is not None:
            yield Finding((*path, "distro"), f"cannot be combined with {required}")
        for task_path, task in objects(recipe, path, "tasks"):
            if task.get("name") is None and task.get("fetch") is None:
                yield Finding(task_path, f"has no {places.word('name')}")


def _requirements(recipes: Iterable[Required]) -> Iterator[Finding]:
    for path, _, readings in recipes:
        for field, reading in readings.items():
            for finding in _faults_of_reading(reading, LANGUAGES[field]):
                yield finding._replace(path=(*path, field, *finding.path))


def _faults_of_reading(reading: ParsedRequirement, language: Language) -> Iterable[Finding]:
    """Return the faults of a reading, and of the normalised form that is stored instead of the submitted one.

    The stored form must also be valid as XML, where it may be two levels deeper: the root of a requirement
    is a group, and some elements need another group around them.
    """
    if reading.findings or isinstance(reading.node, Forced):
        return reading.findings
    text = reading.text
    return (
        _cached_nested_faults(language, text)
        if len(text) <= KEPT_TEXT_LENGTH
        else _nested_faults(language, text)
    )


def _nested_faults(language: Language, text: str) -> tuple[Finding, ...]:
    form = {"and": [{"and": [json.loads(text)]}]}
    return tuple(Finding((), finding.message) for finding in language.examine(form).findings[:1])


_cached_nested_faults = lru_cache(4_096)(_nested_faults)


def _retention(document: Mapping[str, Any], tags: RetentionTags) -> Iterator[Finding]:
    tag, product = document.get("retention_tag"), document.get("product") or None
    wrong = tags.fault(tag.lower(), product) if isinstance(tag, str) else None
    if wrong:
        field, message = wrong
        yield Finding((field,) if field in document else (), message)
