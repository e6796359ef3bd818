"""Parsing of the bytes of a request into documents of jobs, with the locations of their parts."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from api.intake.embedded_xml import EmbeddedRequirements
from api.intake.json_text import parse_json
from api.intake.limits import MAX_JOBS, raise_unreadable
from api.intake.located_faults import located_faults
from api.intake.locations import EmbeddedLocations, JsonLocations, Locations, LocationsBelow
from api.intake.xml_job import read_xml
from api.intake.xml_text import parse_xml
from api.intake.xml_walk import ElementFault
from domain.errors import Fault, FaultyInput, TooLarge
from domain.requirements.findings import Finding


class ParsedBody(NamedTuple):
    """A document, the locations of its parts, and the faults of parsing, at XML elements or at paths.

    The locations of a text within a list begin with `prefix`.
    """

    document: dict[str, Any]
    locations: Locations
    faults: list[ElementFault]
    findings: list[Finding]
    prefix: str = ""

    def prefixed(self, faults: Iterable[Fault]) -> list[Fault]:
        """Return the faults in the text as faults of the whole body."""
        return _prefixed(self.prefix, faults)


def _prefixed(prefix: str, faults: Iterable[Fault]) -> list[Fault]:
    return [Fault(f"{prefix}{fault.where}", fault.message) for fault in faults]


def _parsed_xml(body: bytes) -> ParsedBody:
    document, walk = read_xml(parse_xml(body), "job", body)
    return ParsedBody(document, walk.locations, walk.faults, [])


def _parsed_json(body: bytes) -> ParsedBody:
    return _parsed(parse_json(body), JsonLocations(body))


def _parsed(document: dict[str, Any], locations: Locations) -> ParsedBody:
    embedded = EmbeddedRequirements()
    embedded.read_all(document)
    return ParsedBody(document, EmbeddedLocations(locations, embedded.locations), [], embedded.findings)


PARSERS: Final[dict[str, Callable[[bytes], ParsedBody]]] = {
    "application/xml": _parsed_xml,
    "text/xml": _parsed_xml,
    "application/json": _parsed_json,
}


# The first characters of a job, which is an XML element, or an object or a list in JSON.
_MEDIA_TYPES: Final = {"<": "application/xml", "{": "application/json", "[": "application/json"}


def body_of(text: str, where: str) -> tuple[bytes, str]:
    """Return the bytes of a job and their media type, by the first character after a byte order mark.

    Raises Unreadable at `where` for a text that is empty, neither XML nor JSON, or not possible in UTF-8.
    """
    job = text.removeprefix(codecs.BOM_UTF8.decode()).lstrip()
    if not job:
        raise_unreadable(where, "is empty; write a job")
    kind = _MEDIA_TYPES.get(job[0])
    if kind is None:
        raise_unreadable(where, "is neither XML, which begins with <, nor JSON, which begins with {")
    try:
        return text.encode(), kind
    except UnicodeEncodeError as error:
        raise_unreadable(where, f"contains U+{ord(text[error.start]):04X}, which is not a character")


class ParsedSubmission(NamedTuple):
    """The parsed bodies of a submission, or the faults of those that cannot be parsed.

    `is_list`: its document has a list of jobs.
    """

    bodies: list[ParsedBody | FaultyInput]
    is_list: bool


def parse_job(body: bytes, media_type: str) -> ParsedBody:
    """Return the parsed body of one job. Raises Unreadable and FaultyInput."""
    parse = PARSERS.get(_kind(media_type))
    if parse is None:
        raise_unreadable("Content-Type", f"must be one of {', '.join(PARSERS)}")
    return parse(body)


def _kind(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def parse_jobs(body: bytes, media_type: str) -> ParsedSubmission:
    """Return the parsed jobs of a body.

    Raises Unreadable, TooLarge for too many jobs, and FaultyInput for jobs that are not a list, or none.
    """
    if PARSERS.get(_kind(media_type)) is not _parsed_json:
        return ParsedSubmission([parse_job(body, media_type)], False)
    document, locations = parse_json(body), JsonLocations(body)
    if "jobs" not in document or "recipe_sets" in document:
        return ParsedSubmission([_parsed(document, locations)], False)
    if findings := list(_list_faults(document)):
        raise FaultyInput(located_faults(locations, [], findings, "errors"))
    if len(document["jobs"]) > MAX_JOBS:
        findings = [Finding(("jobs",), f"must not have more than {MAX_JOBS} members")]
        raise TooLarge(located_faults(locations, [], findings, "errors"))
    bodies = [_parsed_member(job, number, locations) for number, job in enumerate(document["jobs"])]
    return ParsedSubmission(bodies, True)


def _parsed_member(
    job: dict[str, Any] | str, number: int, locations: JsonLocations
) -> ParsedBody | FaultyInput:
    if isinstance(job, dict):
        return _parsed(job, LocationsBelow(locations, ("jobs", number)))
    where = f"jobs[{number}]"
    try:
        body, media_type = body_of(job, "text")
        return PARSERS[media_type](body)._replace(prefix=f"{where}: ")
    except FaultyInput as error:
        return FaultyInput(_prefixed(f"{where}: ", error.faults))


def _list_faults(document: Mapping[str, Any]) -> Iterator[Finding]:
    for field in document.keys() - {"jobs"}:
        yield Finding((field,), f'unknown field "{field[:100]}" beside "jobs"')
    jobs = document["jobs"]
    if not isinstance(jobs, list):
        yield Finding(("jobs",), "must be a list")
    elif not jobs:
        yield Finding(("jobs",), "must not be empty")
    else:
        for number, job in enumerate(jobs):
            if not isinstance(job, dict | str):
                yield Finding(("jobs", number), "must be an object, or the text of a job")
