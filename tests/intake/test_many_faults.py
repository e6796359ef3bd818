"""Work for a faulty document is bounded: only reported faults get a message and a place."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from api.intake import checks, read_job
from api.intake.limits import MAX_FAULTS
from domain.errors import FaultyInput
from tests.intake.jobs import NAMES

MANY = 5_000
SOUND: dict[str, Any] = {
    "host_requires": {"and": []},
    "distro_requires_xml": "<distroRequires/>",
    "tasks": [{"name": "/a"}],
}
UNKNOWN_KEYS = {f"key{number}": 0 for number in range(MANY)}


def _job(recipe: dict[str, Any], **beside: Any) -> bytes:
    return json.dumps({"recipe_sets": [{"recipes": [{**SOUND, **recipe}]}], **beside}).encode()


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (_job({}, **UNKNOWN_KEYS), MANY - MAX_FAULTS),
        (_job(UNKNOWN_KEYS), MANY - MAX_FAULTS),
        # A requirement reports at most a thousand faults.
        (_job({"host_requires": {"and": [1] * MANY}}), 1_000 - MAX_FAULTS),
    ],
)
def test_document__thousands_of_faults__words_and_places_those_that_are_shown(
    body: bytes, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = {"words_in_a_job": 0, "_place_finding": 0}

    def count(module: Any, name: str) -> None:
        counted = getattr(module, name)

        def called(*args: Any) -> Any:
            calls[name] += 1
            return counted(*args)

        monkeypatch.setattr(module, name, called)

    count(checks, "words_in_a_job")
    count(sys.modules["api.intake.read"], "_place_finding")
    with pytest.raises(FaultyInput) as refused:
        read_job(body, "application/json", NAMES, "bob", is_admin=True)
    assert max(calls.values()) <= MAX_FAULTS
    assert len(refused.value.faults) == MAX_FAULTS + 1
    assert refused.value.faults[-1].message == f"and {more} more errors"
