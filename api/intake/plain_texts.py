"""Warnings about names of locks and reasons that are taken as plain texts, but look like more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from api.intake.declarations import names_of_locks
from domain.admission.reason_limits import buckets
from domain.contention.own_names import OWN_NAMES
from domain.requirements.findings import Finding, Path

FORM: Final = "a rate limit has the form rate-limit:n:label, with n from 1"


def plain_texts(
    document: Mapping[str, Any], recipes: Iterable[tuple[Path, Mapping[str, Any]]]
) -> Iterator[Finding]:
    """Yield a finding for each misspelt own name, parameter and rate limit of a document and its recipes."""
    for path, recipe in recipes:
        locks = recipe.get("locks")
        for at, _, name in names_of_locks(locks, (*path, "locks")) if isinstance(locks, Mapping) else ():
            if name.startswith("$") and name not in OWN_NAMES:
                own = ", ".join(sorted(OWN_NAMES))
                yield Finding(at, f"is taken as a plain name; only these stand for other names: {own}")
            elif name.startswith("{") and name.endswith("}"):
                yield Finding(at, "is taken as a plain name; only operations have names of parameters")
    reasons = document.get("reasons")
    for number, reason in enumerate(reasons if isinstance(reasons, list) else ()):
        if isinstance(reason, str) and _looks_like_a_limit(reason):
            yield Finding(("reasons", number), f"is taken as a note: {FORM}")


def _looks_like_a_limit(reason: str) -> bool:
    return reason.strip().lower().startswith("rate-limit:") and not buckets([reason])
