"""Whole requirements: parsing of JSON forms and canonical texts, with a cache of parsed requirements."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

from domain.requirements.findings import Finding, Report
from domain.requirements.forms import to_form, to_text
from domain.requirements.leaves import Mention, Notes
from domain.requirements.nodes import All, Node

_CACHED: Final = 4096
_MAX_CACHED_LENGTH: Final = 4096


@dataclass(frozen=True)
class ParsedRequirement:
    """A parsed requirement. If there are findings, `node` lacks the faulty parts."""

    node: Node
    findings: tuple[Finding, ...]
    mentions: tuple[Mention, ...]

    @cached_property
    def form(self) -> dict[str, Any]:
        """Return the canonical form, which is shared and must not be changed."""
        return to_form(self.node)

    @cached_property
    def text(self) -> str:
        return to_text(self.node)


class Language:
    """The requirements of one vocabulary. `read` returns the tree of a form, None if it has no effect."""

    def __init__(self, read: Callable[[Any, Notes], Node | None]) -> None:
        self._read = read
        self._cached = lru_cache(_CACHED)(self._examine)

    def examine(self, form: Any) -> ParsedRequirement:
        """Return the tree, findings and mentioned names of a JSON form, from the cache if possible."""
        text = json.dumps(form)
        return self._cached(text) if len(text) <= _MAX_CACHED_LENGTH else self._examine(text)

    def parse(self, form: Any, report: Report) -> Node:
        """Return the tree of a form, and report each finding."""
        parsed = self.examine(form)
        for finding in parsed.findings:
            report(finding.path, finding.message)
        return parsed.node

    def from_text(self, text: str) -> Node:
        """Return the tree of a canonical text. Raises `ValueError` for any other text."""
        parsed = self._cached(text)
        if parsed.findings:
            raise ValueError(parsed.findings[0].message)
        return parsed.node

    def mentions(self, text: str) -> tuple[Mention, ...]:
        return self._cached(text).mentions

    def _examine(self, text: str) -> ParsedRequirement:
        notes = Notes()
        node = self._read(json.loads(text), notes)
        return ParsedRequirement(node or All(()), tuple(notes.findings), tuple(notes.mentions))
