"""Conversion of a stored job to XML that reads back to the same document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lxml import etree

from api.intake.document import chosen_fields
from api.intake.xml_job import JOB
from api.intake.xml_text import parse_xml
from domain.job.spec import DEFAULT_RETENTION_TAG


def write_job(document: Mapping[str, Any], default_tag: str | None = DEFAULT_RETENTION_TAG) -> bytes:
    """Return `JobSpec.document` as indented XML in UTF-8, without fields that have their default.

    `default_tag` is the retention tag that the service gives to jobs without one; None writes any tag. The
    XML may be larger than the submitted text, and than the maximum of a body.
    """
    root = etree.Element("job")
    fields = chosen_fields(document, default_tag)
    JOB.write(fields, root)
    etree.indent(root)
    for text in fields.get("foreign", ()):
        # Added after the indentation, which would insert blanks into it.
        element = parse_xml(text.encode())
        element.tail = "\n"
        root.append(element)
    return etree.tostring(root, encoding="utf-8", xml_declaration=True)
