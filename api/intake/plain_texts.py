"""Warnings about names of locks and reasons that are taken as plain texts, but look like more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from api.intake.declarations import names_of_locks
from domain.admission.reason_limits import buckets
from domain.contention.own_names import OWN_NAMES
from domain.document_checks import quoted
from domain.requirements.findings import Finding, Path

NEARLY_A_BUCKET: Final = re.compile(r"\s*rate[-_ ]?limit\s*:", re.IGNORECASE)
FORM: Final = "a rate limit has the form rate-limit:n:label, with n from 1"


def plain_texts(
    document: Mapping[str, Any], recipes: Iterable[tuple[Path, Mapping[str, Any]]]
) -> Iterator[Finding]:
    """Yield a finding for each misspelt own name, parameter and rate limit of a document and its recipes."""
    for path, recipe in recipes:
        locks = recipe.get("locks")
        for at, _, name in names_of_locks(locks, (*path, "locks")) if isinstance(locks, Mapping) else ():
            text = f'"{quoted(name)}" is taken as a plain name'
            if name.startswith("$") and name not in OWN_NAMES:
                yield Finding(at, f"{text}; only these stand for other names: {', '.join(sorted(OWN_NAMES))}")
            elif name.startswith("{") and name.endswith("}"):
                yield Finding(at, f"{text}; only operations have names of parameters")
    reasons = document.get("reasons")
    for number, reason in enumerate(reasons if isinstance(reasons, list) else ()):
        if isinstance(reason, str) and _is_nearly_a_bucket(reason):
            yield Finding(("reasons", number), f'"{quoted(reason)}" is taken as a note: {FORM}')


def _is_nearly_a_bucket(reason: str) -> bool:
    return NEARLY_A_BUCKET.match(reason) is not None and not buckets([reason])
