"""Faults with their locations in the text of a document, in text order."""

from __future__ import annotations

from collections.abc import Sequence

from api.intake.limits import MAX_FAULTS, MAX_MESSAGE_LENGTH
from api.intake.locations import Locations, XmlLocations
from api.intake.xml_walk import ElementFault
from domain.errors import Fault
from domain.requirements.findings import Finding

LocatedFault = tuple[int, int, str, str]
"""Line, column, location as text, message."""


def located_faults(
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
