"""A kept job as XML again, such that reading it gives the same document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lxml import etree

from api.intake.document import Job
from api.intake.xml_job import JOB
from api.intake.xml_text import parse_xml


def write_job(document: Mapping[str, Any]) -> bytes:
    """The XML, UTF-8, of `JobSpec.document`. What has its default is left out.

    Indented and with all that was understood, it may be larger than what was submitted, and then than a body.
    """
    root = etree.Element("job")
    told = Job.model_validate(document).model_dump(exclude_none=True, exclude_defaults=True)
    JOB.write(told, root)
    etree.indent(root)
    for kept in told.get("foreign", ()):
        # After the indentation, which would put blanks into it.
        element = parse_xml(kept.encode())
        element.tail = "\n"
        root.append(element)
    return etree.tostring(root, encoding="utf-8", xml_declaration=True)
