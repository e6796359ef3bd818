"""Requirements as XML text in a JSON job, which are replaced by their JSON form."""

from __future__ import annotations

from typing import Any, Final

from api.intake.limits import MAX_FAULTS
from api.intake.places import TextPlaces
from api.intake.xml_job import read_xml
from api.intake.xml_text import parse_xml
from domain.errors import FaultyInput
from domain.job.names import recipes_of
from domain.requirements.findings import Finding, Path

# Field with the text -> field with the form, root element of the text.
_FIELDS: Final = {
    "host_requires_xml": ("host_requires", "hostRequires"),
    "distro_requires_xml": ("distro_requires", "distroRequires"),
}


class Embedded:
    """`grafts`: path of a form -> path of its text, places in the text."""

    def __init__(self) -> None:
        self.grafts: dict[Path, tuple[Path, TextPlaces]] = {}
        self.findings: list[Finding] = []

    def read_all(self, document: dict[str, Any]) -> None:
        """Replace the XML texts in the document by JSON forms."""
        for path, recipe in recipes_of(document):
            assert isinstance(recipe, dict)
            for field, (target, root) in _FIELDS.items():
                if field in recipe:
                    self._read(recipe, path, field, target, root)

    def _read(self, recipe: dict[str, Any], path: Path, field: str, target: str, root: str) -> None:
        text, written_at = recipe.pop(field), (*path, field)
        if target in recipe:
            self.findings.append(Finding(written_at, f'cannot be combined with "{target}"'))
            return
        recipe[target] = {}
        if not isinstance(text, str):
            self.findings.append(Finding(written_at, "must be text"))
            return
        try:
            body = text.encode()
            recipe[target], walk = read_xml(parse_xml(body), root, body)
        except FaultyInput as wrong:
            self.findings += [Finding(written_at, f"{f.where}: {f.message}") for f in wrong.faults]
            return
        self.grafts[*path, target] = (written_at, walk.places)
        # One more than the limit, so that the job's count of further errors is above 0.
        for fault in walk.faults[: MAX_FAULTS + 1]:
            message = f"{walk.places.of(fault.element).where}: {fault.words()}"
            self.findings.append(Finding(written_at, message))
