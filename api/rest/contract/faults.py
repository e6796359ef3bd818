"""Conversion of validation errors to faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from api.intake.limits import MAX_FAULTS, MAX_MESSAGE_LENGTH
from api.intake.model_words import error_message
from api.intake.near_names import fields_at, fields_hint, suggestion
from api.rest.contract.values import (
    FQDN_PATTERN,
    LINK_PATTERN,
    MAIL_PATTERN,
    NUMBER_PATTERN,
    ONE_LINE_PATTERN,
    SHA256_PATTERN,
)
from domain.characters import NAME_PATTERN
from domain.errors import Fault
from domain.requirements.findings import Finding, Path, dotted

_PATTERNS = {
    NAME_PATTERN: "must be a name: letters, digits and . _ @ + -, beginning with a letter or digit",
    FQDN_PATTERN: "must be a host name",
    NUMBER_PATTERN: "must be a number",
    MAIL_PATTERN: "must be an email address",
    LINK_PATTERN: "must be a link that begins with http:// or https://",
    ONE_LINE_PATTERN: "must not have control characters",
    SHA256_PATTERN: "must be a SHA-256: 64 hexadecimal digits in lower case",
}


def faults_of(
    error: ValidationError, model: type[BaseModel] | None = None, limit: int = MAX_FAULTS
) -> list[Fault]:
    """Return at most `limit` faults and a count of the others, with suggestions for unknown fields."""
    errors = error.errors(include_url=False, include_input=False)
    faults = [Fault(_where(e["loc"])[:MAX_MESSAGE_LENGTH], _message(e, model)) for e in errors[:limit]]
    return [*faults, *_rest(len(errors), limit)]


def faults_of_findings(findings: Sequence[Finding], limit: int = MAX_FAULTS) -> list[Fault]:
    """Return at most `limit` faults of a document that the domain validated, and a count of the others."""
    faults = [
        Fault(_where(finding.path)[:MAX_MESSAGE_LENGTH], finding.message[:MAX_MESSAGE_LENGTH])
        for finding in findings[:limit]
    ]
    return [*faults, *_rest(len(findings), limit)]


def _rest(count: int, limit: int) -> Iterator[Fault]:
    if count > limit:
        yield Fault("body", f"and {count - limit} more errors")


def _message(error: ErrorDetails, model: type[BaseModel] | None) -> str:
    if model is not None and error["type"] == "extra_forbidden":
        *path, name = error["loc"]
        fields = fields_at(model, tuple(path))
        return f"{error_message(error)}{suggestion(str(name), fields) or fields_hint(fields)}"
    if error["type"] == "string_pattern_mismatch":
        return _PATTERNS.get(error["ctx"]["pattern"], error["msg"])
    return error_message(error)[:MAX_MESSAGE_LENGTH]


def _where(location: Path) -> str:
    return dotted(location) or "body"
