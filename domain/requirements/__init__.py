"""The language in which jobs require systems and distro trees, and its evaluation."""

from __future__ import annotations

from domain.requirements.columns import Columns
from domain.requirements.evaluate import Ternary, evaluate, matching, properties
from domain.requirements.findings import Finding, Path, Report, dotted
from domain.requirements.forms import to_form, to_text
from domain.requirements.host import HOST
from domain.requirements.language import ParsedRequirement
from domain.requirements.nodes import All, Device, Disk, Either, Forced, KeyValue, Leaf, Node, Not

parse = HOST.parse
from_text = HOST.from_text

__all__ = [
    "All",
    "Columns",
    "Device",
    "Disk",
    "Either",
    "Finding",
    "Forced",
    "KeyValue",
    "Leaf",
    "Node",
    "Not",
    "ParsedRequirement",
    "Path",
    "Report",
    "Ternary",
    "dotted",
    "evaluate",
    "from_text",
    "matching",
    "parse",
    "properties",
    "to_form",
    "to_text",
]
