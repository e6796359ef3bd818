"""Replacement of requirements in XML within a JSON job by their JSON form."""

from __future__ import annotations

from typing import Any, Final

from api.intake.limits import MAX_FAULTS
from api.intake.locations import Locations
from api.intake.xml_job import read_xml
from api.intake.xml_text import parse_xml
from domain.errors import FaultyInput
from domain.job.names import recipes_of
from domain.requirements.findings import Finding, Path

# Field of the XML text -> field of the JSON form, root element of the text.
_FIELDS: Final = {
    "host_requires_xml": ("host_requires", "hostRequires"),
    "distro_requires_xml": ("distro_requires", "distroRequires"),
}


class EmbeddedRequirements:
    """`locations`: path of a JSON form -> path of the text that it replaces, locations in the text."""

    def __init__(self) -> None:
        self.locations: dict[Path, tuple[Path, Locations]] = {}
        self.findings: list[Finding] = []

    def read_all(self, document: dict[str, Any]) -> None:
        """Replace the XML texts in the document by JSON forms."""
        for path, recipe in recipes_of(document):
            assert isinstance(recipe, dict)
            for field, (target, root) in _FIELDS.items():
                if field in recipe:
                    self._read(recipe, path, field, target, root)

    def _read(self, recipe: dict[str, Any], path: Path, field: str, target: str, root: str) -> None:
        text, text_path = recipe.pop(field), (*path, field)
        if target in recipe:
            self.findings.append(Finding(text_path, f'cannot be combined with "{target}"'))
            return
        recipe[target] = {}
        if not isinstance(text, str):
            self.findings.append(Finding(text_path, "must be text"))
            return
        try:
            body = text.encode()
            recipe[target], walk = read_xml(parse_xml(body), root, body)
        except FaultyInput as error:
            self.findings += [Finding(text_path, f"{f.where}: {f.message}") for f in error.faults]
            return
        self.locations[*path, target] = (text_path, walk.locations)
        # One more than the limit, so that the message about further errors appears.
        for fault in walk.faults[: MAX_FAULTS + 1]:
            message = f"{walk.locations.location_of(fault.element).where}: {fault.words()}"
            self.findings.append(Finding(text_path, message))
