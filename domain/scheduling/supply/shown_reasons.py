"""The texts that users see for stored reasons.

The stored texts never change, because `labledger replay verify` compares events. A reason without a row here
is shown as stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from domain.scheduling.supply import reasons

SHOWN: Final[Mapping[str, str]] = {
    reasons.NO_IDLE_SYSTEM: "no usable system is free",
    reasons.NO_IDLE_ACCESS: "no usable system is free, and access policies exclude the free ones that match",
    reasons.ALL_BROKEN: "every system that could run it is broken",
    reasons.NONE_USABLE: "no system that could run it is usable now, not even a busy one",
    reasons.ALL_SILENT: "every system that could run it belongs to a silent lab controller",
    reasons.ALL_LENT: "every system that could run it is on loan to another user",
    reasons.SET_INCOMPLETE: "no lab has enough usable systems for its set now, even counting busy ones",
    reasons.UNSAFE: "with this system, its recipe set and others could deadlock",
    reasons.LET_GO: "its recipe set released its systems to avoid a deadlock",
    reasons.TREE_AWAY: "no lab has its distro tree now",
    reasons.SIBLING_TREE_AWAY: "no lab has the distro tree of another recipe of its set now",
    reasons.TO_BE_ASKED: "the scheduler is about to choose a recipe for it",
    reasons.DISTRO_LEFT: "no lab has its distro tree any more",
    reasons.NO_LAB_FOR_ALL: "no lab has enough matching systems for all recipes of the set",
    reasons.RESERVATION_OVER: "the reservation has expired",
    reasons.LOAN_OVER: "the loan has expired",
    reasons.OF_SYSTEM["loan"]: "it is on loan to another user",
}


def shown_reason(reason: str) -> str:
    """Return the text that users see for a stored reason; a suffix after `: ` is kept."""
    if reason in SHOWN:
        return SHOWN[reason]
    stored, colon, suffix = reason.partition(": ")
    return f"{SHOWN.get(stored, stored)}{colon}{suffix}"
