"""Reading of jobs from the bytes of a request: valid ones, or all their faults at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from api.intake.bodies import ParsedBody, ParsedSubmission, parse_job, parse_jobs
from api.intake.checks import check_document, too_large_sets
from api.intake.declarations import Exists, LockContext, mentioned, read_declarations
from api.intake.limits import (
    MAX_FAULTS,
    MAX_MENTIONED,
    MAX_RECIPES_IN_JOB,
)
from api.intake.located_faults import located_faults
from api.intake.near_names import unknown_name_message
from api.intake.plain_texts import plain_texts
from api.intake.requirements import Requirements, read_requirements
from api.intake.spec import spec_of
from domain.admission.dependencies import Preceding
from domain.contention.operations import SHIPPED, OperationTable
from domain.directory.name_index import NameIndex
from domain.errors import Fault, FaultyInput
from domain.job.names import unknown_names
from domain.job.retention_tags import RetentionTags
from domain.job.spec import JobSpec
from domain.job.state import Job
from domain.job.submission import counts
from domain.requirements.findings import Finding

DEFAULT_TAGS: Final = RetentionTags()

# The location of a field of a job, in a list of jobs with the index of the job.
_OF_JOB: Final = re.compile(r"(?:jobs\[(?P<job>\d+)\]\.)?(?P<field>queue|partition)")


class ReadJob(NamedTuple):
    """A valid job, with warnings about parts without effect and about unknown names."""

    spec: JobSpec
    warnings: tuple[Fault, ...]


class ReadJobs(NamedTuple):
    """Valid jobs; `is_list` if the document has a list of jobs, which are submitted in one commit."""

    jobs: tuple[ReadJob, ...]
    is_list: bool


class PartitionRules(NamedTuple):
    """The operation table of a partition, and its maximum of placed hosts, None without one."""

    operations: OperationTable = SHIPPED
    max_placed: int | None = None


@dataclass(frozen=True)
class SubmissionContext:
    """The submitter and all that decides whether a job is valid.

    With `strict`, warnings are faults. Messages suggest names from `visible` (default: `names`). `exists`
    answers for the jobs and recipe sets of `mentioned_in`. `rules` returns those of the partition that a job
    names, None if it names none. `present` is the job to which the recipe sets of the document are added.
    """

    names: NameIndex
    submitter: str
    is_admin: bool
    strict: bool = False
    visible: NameIndex | None = None
    tags: RetentionTags = DEFAULT_TAGS
    rules: Callable[[str | None], PartitionRules] = lambda _: PartitionRules()
    exists: Exists = lambda kind, number: False
    present: Job | None = None


def read_job(
    body: bytes, media_type: str, names: NameIndex, submitter: str, is_admin: bool, **more: Any
) -> ReadJob:
    """Return the job. Raises Unreadable for malformed or hostile input, FaultyInput with all other faults.

    `more` are further fields of `SubmissionContext`.
    """
    return _read(parse_job(body, media_type), SubmissionContext(names, submitter, is_admin, **more), 0)


def read_added_sets(
    body: bytes,
    media_type: str,
    names: NameIndex,
    submitter: str,
    is_admin: bool,
    present: Job,
    **more: Any,
) -> ReadJob:
    """Return recipe sets that are added to a job, as those of a job without other fields.

    Raises like `read_job`.
    """
    context = SubmissionContext(names, submitter, is_admin, present=present, **more)
    return _read(parse_job(body, media_type), context, 0)


def read_jobs(
    body: bytes, media_type: str, names: NameIndex, submitter: str, is_admin: bool, **more: Any
) -> ReadJobs:
    """Return the job, or the jobs of `{"jobs": [...]}`. Raises like `read_job`."""
    context, submission = SubmissionContext(names, submitter, is_admin, **more), parse_jobs(body, media_type)
    jobs, faults = list[ReadJob](), list[Fault]()
    if submission.is_list and (count := len(_mentioned(submission))) > MAX_MENTIONED:
        named = f"{count} different jobs and recipe sets"
        faults.append(Fault("jobs", f"depend on {named}; {MAX_MENTIONED} are allowed"))
    for number, parsed in enumerate(submission.bodies):
        try:
            jobs.append(_read(_require_parsed(parsed), context, number))
        except FaultyInput as error:
            faults += error.faults
        if len(faults) > MAX_FAULTS:
            raise FaultyInput([*faults[:MAX_FAULTS], Fault("document", "and more errors")])
    recipe_count = sum(counts(job.spec)[1] for job in jobs)
    if recipe_count > MAX_RECIPES_IN_JOB:
        allowed = f"{MAX_RECIPES_IN_JOB} are allowed"
        faults.append(Fault("jobs", f"have {recipe_count} recipes, guests included; {allowed}"))
    if faults:
        raise FaultyInput(faults)
    return ReadJobs(tuple(jobs), submission.is_list)


def _require_parsed(parsed: ParsedBody | FaultyInput) -> ParsedBody:
    if isinstance(parsed, FaultyInput):
        raise parsed
    return parsed


def _read(parsed: ParsedBody, context: SubmissionContext, preceding_jobs: int) -> ReadJob:
    """Return the job of a parsed body; `preceding_jobs` of the same submission stand before it."""
    names, visible, present = context.names, context.visible or context.names, context.present
    alien = [] if present is None else _completed(parsed.document, present)
    if parsed.document.get("retention_tag", "") == "":
        parsed.document["retention_tag"] = context.tags.default
    rules = _rules(parsed.document, context)
    required = read_requirements(parsed.document, names)
    recipes = required.of_recipes
    job, findings = check_document(
        parsed.document,
        recipes,
        parsed.locations,
        names,
        context.submitter,
        context.tags,
        is_admin=context.is_admin,
    )
    declared = read_declarations(
        parsed.document,
        ((recipe.path, recipe.recipe) for recipe in recipes),
        LockContext(names, visible, rules.operations),
        context.exists,
        Preceding(preceding_jobs, 0 if present is None else len(present.recipe_set_ids)),
    )
    findings += [*alien, *declared.findings]
    findings += too_large_sets(recipes, rules.max_placed)
    doubtful = chain(
        _warnings(required, names, visible, strict=context.strict),
        plain_texts(parsed.document, ((recipe.path, recipe.recipe) for recipe in recipes)),
    )
    warnings = [*islice(doubtful, MAX_FAULTS + 1)]
    if context.strict:
        findings, warnings = [*findings, *warnings], []
    if job is None or findings or parsed.findings or parsed.faults:
        faults = located_faults(parsed.locations, parsed.faults, [*parsed.findings, *findings], "errors")
        raise FaultyInput(parsed.prefixed(faults))
    notes = parsed.prefixed(located_faults(parsed.locations, [], warnings, "warnings"))
    return ReadJob(spec_of(job, [recipe.parsed for recipe in recipes], declared), tuple(notes))


def _rules(document: Mapping[str, Any], context: SubmissionContext) -> PartitionRules:
    named = document.get("partition")
    return context.rules(named if isinstance(named, str) and named in context.names.partitions else None)


def _completed(document: dict[str, Any], present: Job) -> list[Finding]:
    """Complete a document of added recipe sets by fields of their job; return the faults of other fields."""
    fields = [field for field in document if field != "recipe_sets"]
    for field in fields:
        del document[field]
    document["retention_tag"] = present.retention_tag
    if present.product is not None:
        document["product"] = present.product
    findings = [
        Finding((field,), "belongs to the job; here only recipe_sets can be given") for field in fields
    ]
    if document.get("recipe_sets") == []:
        # So that `check_document` does not also tell the rule of submissions.
        document["open"] = True
        findings.append(Finding(("recipe_sets",), "must not be empty"))
    return findings


def may_depend(body: bytes) -> bool:
    """Return whether `mentioned_in` may find anything; most jobs depend on nothing."""
    # A JSON text may spell the field with escapes.
    return b"depends" in body or b"\\u" in body


def mentioned_in(body: bytes, media_type: str) -> frozenset[tuple[str, int]]:
    """Return the kinds and ids of the jobs and recipe sets on which a job says that it depends.

    Raises Unreadable and FaultyInput for a body that `read_job` refuses to parse.
    """
    return _mentioned(parse_jobs(body, media_type))


def with_lines(body: bytes, media_type: str, faults: Iterable[Fault]) -> list[Fault]:
    """Return faults of jobs that `read_jobs` accepted, with the lines of `queue` and `partition`.

    Both are checked after the parsing, against the log. Only the body of a refused job is parsed again.
    """
    bodies = parse_jobs(body, media_type).bodies
    return [Fault(_line_of(fault.where, bodies), fault.message) for fault in faults]


def _line_of(where: str, bodies: Sequence[ParsedBody | FaultyInput]) -> str:
    found = _OF_JOB.fullmatch(where)
    if found is None:
        return where
    body = bodies[int(found["job"] or 0)]
    assert isinstance(body, ParsedBody), "an accepted job was parsed"
    location = body.locations.find((found["field"],))
    return where if location.rest else f"{body.prefix}{location.where}"


def _mentioned(submission: ParsedSubmission) -> frozenset[tuple[str, int]]:
    parsed = (body for body in submission.bodies if isinstance(body, ParsedBody))
    return frozenset().union(*(mentioned(body.document) for body in parsed))


def _warnings(
    required: Requirements, names: NameIndex, visible: NameIndex, *, strict: bool
) -> Iterator[Finding]:
    yield from required.warnings
    for name in unknown_names(required.of_recipes, names):
        message = unknown_name_message(name, visible)
        if not strict:
            message += f"{' ' if message.endswith('?') else '. '}{name.effect}"
        yield Finding(name.path, message)
