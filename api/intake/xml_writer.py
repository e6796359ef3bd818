"""A kept job as XML again, such that reading it gives the same document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lxml import etree

from api.intake.document import Job
from api.intake.xml_job import JOB
from api.intake.xml_text import parse_xml
from domain.job.spec import DEFAULT_RETENTION_TAG


def write_job(document: Mapping[str, Any], default_tag: str | None = DEFAULT_RETENTION_TAG) -> bytes:
    """Return the XML, UTF-8, of `JobSpec.document`. What has its default is left out.

    `default_tag` is the retention tag that the service gives to jobs without one; None writes any tag.
    Indented and with all that was understood, it may be larger than what was submitted, and then than a body.
    """
    root = etree.Element("job")
    job = Job.model_validate(document)
    told = job.model_dump(exclude_none=True, exclude_defaults=True)
    told.pop("retention_tag", None)
    if job.retention_tag != default_tag:
        told["retention_tag"] = job.retention_tag
    JOB.write(told, root)
    etree.indent(root)
    for kept in told.get("foreign", ()):
        # After the indentation, which would put blanks into it.
        element = parse_xml(kept.encode())
        element.tail = "\n"
        root.append(element)
    return etree.tostring(root, encoding="utf-8", xml_declaration=True)
