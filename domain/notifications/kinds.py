"""The kinds of notification, and their channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

JOB_ENDED: Final = "job-ended"
END_NEAR: Final = "end-near"
SYSTEM_BROKEN: Final = "system-broken"
LAB_SILENT: Final = "lab-silent"

KINDS: Final[dict[str, str]] = {
    JOB_ENDED: "a job of yours has ended",
    END_NEAR: "the time for which you, or a recipe of yours, keep a system ends soon",
    SYSTEM_BROKEN: "a system of yours broke",
    LAB_SILENT: "a lab controller has stopped reporting",
}
"""Kind -> when it is sent."""

DEFAULT_KINDS: Final = tuple(KINDS)
MAIL: Final = "mail"
WEBHOOK: Final = "webhook"


def fault_of(kinds: Sequence[str]) -> str | None:
    """Return why these are not kinds of notification, None if they are."""
    unknown = next((kind for kind in kinds if kind not in KINDS), None)
    return None if unknown is None else f'there is no kind "{unknown}"; the kinds are {", ".join(KINDS)}'
