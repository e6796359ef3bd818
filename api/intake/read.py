"""Parsing of a job from the bytes of a request, with all faults at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from api.intake.checks import check_document
from api.intake.embedded_xml import EmbeddedRequirements
from api.intake.json_text import parse_json
from api.intake.limits import MAX_FAULTS, MAX_MESSAGE_LENGTH, raise_unreadable
from api.intake.locations import EmbeddedLocations, JsonLocations, Locations, XmlLocations
from api.intake.near_names import unknown_name_message
from api.intake.requirements import Requirements, read_requirements
from api.intake.spec import spec_of
from api.intake.xml_job import read_xml
from api.intake.xml_text import parse_xml
from api.intake.xml_walk import ElementFault
from domain.directory.name_index import NameIndex
from domain.errors import Fault, FaultyInput
from domain.job.names import unknown_names
from domain.job.retention import RetentionTags
from domain.job.spec import JobSpec
from domain.requirements.findings import Finding

DEFAULT_TAGS: Final = RetentionTags()

LocatedFault = tuple[int, int, str, str]
"""Line, column, location as text, message."""


class ParsedBody(NamedTuple):
    """A document, the locations of its parts, and the faults of parsing, at XML elements or at paths."""

    document: dict[str, Any]
    locations: Locations
    faults: list[ElementFault]
    findings: list[Finding]


def _open_xml(body: bytes) -> ParsedBody:
    document, walk = read_xml(parse_xml(body), "job", body)
    return ParsedBody(document, walk.locations, walk.faults, [])


def _open_json(body: bytes) -> ParsedBody:
    document = parse_json(body)
    embedded = EmbeddedRequirements()
    embedded.read_all(document)
    return ParsedBody(
        document, EmbeddedLocations(JsonLocations(body), embedded.locations), [], embedded.findings
    )


PARSERS: Final[dict[str, Callable[[bytes], ParsedBody]]] = {
    "application/xml": _open_xml,
    "text/xml": _open_xml,
    "application/json": _open_json,
}


class ReadJob(NamedTuple):
    """A valid job, with warnings about parts without effect and about unknown names."""

    spec: JobSpec
    warnings: tuple[Fault, ...]


def read_job(
    body: bytes,
    media_type: str,
    names: NameIndex,
    submitter: str,
    is_admin: bool,
    *,
    strict: bool = False,
    visible: NameIndex | None = None,
    tags: RetentionTags = DEFAULT_TAGS,
) -> ReadJob:
    """Return the job. Raises Unreadable for malformed or hostile input, FaultyInput with all other faults.

    With `strict`, warnings are faults. Warnings suggest names from `visible` (default: `names`).
    """
    parse = PARSERS.get(media_type.partition(";")[0].strip().lower())
    if parse is None:
        raise_unreadable("Content-Type", f"must be one of {', '.join(PARSERS)}")
    parsed = parse(body)
    if parsed.document.get("retention_tag", "") == "":
        parsed.document["retention_tag"] = tags.default
    required = read_requirements(parsed.document, names)
    recipes = required.of_recipes
    job, findings = check_document(
        parsed.document, recipes, parsed.locations, names, submitter, tags, is_admin=is_admin
    )
    warnings = [*islice(_warnings(required, names, visible or names, strict=strict), MAX_FAULTS + 1)]
    if strict:
        findings, warnings = [*findings, *warnings], []
    if job is None or findings or parsed.findings or parsed.faults:
        raise FaultyInput(
            _located_faults(parsed.locations, parsed.faults, [*parsed.findings, *findings], "errors")
        )
    notes = _located_faults(parsed.locations, [], warnings, "warnings")
    return ReadJob(spec_of(job, [recipe.parsed for recipe in recipes]), tuple(notes))


def _warnings(
    required: Requirements, names: NameIndex, visible: NameIndex, *, strict: bool
) -> Iterator[Finding]:
    yield from required.warnings
    for name in unknown_names(required.of_recipes, names):
        message = unknown_name_message(name, visible)
        if not strict:
            message += f"{' ' if message.endswith('?') else '. '}{name.effect}"
        yield Finding(name.path, message)


def _located_faults(
    locations: Locations, faults: Sequence[ElementFault], findings: Sequence[Finding], noun: str
) -> list[Fault]:
    """Return the distinct faults in text order, at most MAX_FAULTS, and then a count of the others.

    Computing a location and a message takes time, so at most MAX_FAULTS of each list get one.
    """
    located = [_locate_element(fault, locations) for fault in faults[:MAX_FAULTS]]
    located += [_locate_finding(finding, locations) for finding in findings[:MAX_FAULTS]]
    distinct = sorted(dict.fromkeys(located), key=lambda fault: fault[:2])
    skipped = max(0, len(faults) - MAX_FAULTS) + max(0, len(findings) - MAX_FAULTS)
    more = len(distinct) + skipped - MAX_FAULTS
    shown = [
        Fault(where[:MAX_MESSAGE_LENGTH], message[:MAX_MESSAGE_LENGTH])
        for *_, where, message in distinct[:MAX_FAULTS]
    ]
    return shown if more <= 0 else [*shown, Fault("document", f"and {more} more {noun}")]


def _locate_element(fault: ElementFault, locations: Locations) -> LocatedFault:
    assert isinstance(locations, XmlLocations), "only XML has faults of elements"
    location = locations.location_of(fault.element)
    return location.line, location.column, location.where, fault.words()


def _locate_finding(finding: Finding, locations: Locations) -> LocatedFault:
    line, column, where, rest = locations.find(finding.path)
    message = locations.message(finding)
    return line, column, where, f"{rest}: {message}" if rest else message
