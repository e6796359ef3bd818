"""A job from the bytes of a request, or all of its errors at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from api.intake.bodies import unreadable
from api.intake.checks import check_document
from api.intake.embedded_xml import Embedded
from api.intake.json_text import parse_json
from api.intake.limits import MAX_FAULTS, MAX_MESSAGE_LENGTH
from api.intake.near_names import unknown
from api.intake.places import Grafted, JsonPlaces, TextPlaces, XmlPlaces
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

Placed = tuple[int, int, str, str]
"""Line, column, where, message."""


class Opened(NamedTuple):
    """A document, the places of its parts, and the faults found while it was parsed."""

    document: dict[str, Any]
    places: TextPlaces
    faults: list[ElementFault]
    findings: list[Finding]


def _open_xml(body: bytes) -> Opened:
    document, walk = read_xml(parse_xml(body), "job", body)
    return Opened(document, walk.places, walk.faults, [])


def _open_json(body: bytes) -> Opened:
    document = parse_json(body)
    embedded = Embedded()
    embedded.read_all(document)
    return Opened(document, Grafted(JsonPlaces(body), embedded.grafts), [], embedded.findings)


PARSERS: Final[dict[str, Callable[[bytes], Opened]]] = {
    "application/xml": _open_xml,
    "text/xml": _open_xml,
    "application/json": _open_json,
}


class ReadJob(NamedTuple):
    """A valid job. `warnings` are about parts without effect, and unknown names."""

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
    shown: NameIndex | None = None,
    tags: RetentionTags = DEFAULT_TAGS,
) -> ReadJob:
    """Return the job. Raises `Unreadable` for malformed or hostile input, else `FaultyInput` with all faults.

    With `strict`, warnings are faults. Warnings suggest names from `shown` (default: all names).
    """
    parse = PARSERS.get(media_type.partition(";")[0].strip().lower())
    if parse is None:
        unreadable("Content-Type", f"must be one of {', '.join(PARSERS)}")
    opened = parse(body)
    if opened.document.get("retention_tag", "") == "":
        opened.document["retention_tag"] = tags.default
    required = read_requirements(opened.document, names)
    recipes = required.of_recipes
    job, findings = check_document(
        opened.document, recipes, opened.places, names, submitter, tags, is_admin=is_admin
    )
    warnings = [*islice(_warnings(required, names, shown or names, strict=strict), MAX_FAULTS + 1)]
    if strict:
        findings, warnings = [*findings, *warnings], []
    if job is None or findings or opened.findings or opened.faults:
        raise FaultyInput(_worded(opened.places, opened.faults, [*opened.findings, *findings], "errors"))
    noted = _worded(opened.places, [], warnings, "warnings")
    return ReadJob(spec_of(job, [each.readings for each in recipes]), tuple(noted))


def _warnings(
    required: Requirements, names: NameIndex, shown: NameIndex, *, strict: bool
) -> Iterator[Finding]:
    yield from required.warnings
    for name in unknown_names(required.of_recipes, names):
        message = unknown(name, shown)
        if not strict:
            message += f"{' ' if message.endswith('?') else '. '}{name.effect}"
        yield Finding(name.path, message)


def _worded(
    places: TextPlaces, faults: Sequence[ElementFault], findings: Sequence[Finding], called: str
) -> list[Fault]:
    """Return the faults in the order of the text, each once, at most `MAX_FAULTS` and a count of the others.

    Finding the place and the message of a fault takes time, so only the returned faults get them.
    """
    placed = [_place_element(fault, places) for fault in faults[:MAX_FAULTS]]
    placed += [_place_finding(finding, places) for finding in findings[:MAX_FAULTS]]
    found = sorted(dict.fromkeys(placed), key=lambda it: it[:2])
    unplaced = max(0, len(faults) - MAX_FAULTS) + max(0, len(findings) - MAX_FAULTS)
    more = len(found) + unplaced - MAX_FAULTS
    shown = [
        Fault(where[:MAX_MESSAGE_LENGTH], message[:MAX_MESSAGE_LENGTH])
        for *_, where, message in found[:MAX_FAULTS]
    ]
    return shown if more <= 0 else [*shown, Fault("document", f"and {more} more {called}")]


def _place_element(fault: ElementFault, places: TextPlaces) -> Placed:
    assert isinstance(places, XmlPlaces), "only XML has faults of elements"
    place = places.of(fault.element)
    return place.line, place.column, place.where, fault.words()


def _place_finding(finding: Finding, places: TextPlaces) -> Placed:
    line, column, where, rest = places.find(finding.path)
    message = places.message(finding)
    return line, column, where, f"{rest}: {message}" if rest else message
