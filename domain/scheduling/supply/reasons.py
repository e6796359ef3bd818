"""The reasons why a recipe gets no system, loses it or is given up, and why possession of a system ends.

Many are stored in events, and `verify` compares them with recomputed ones, so their texts must not change.
`SHOWN` has the texts that users see for them; a reason without a row there is shown as stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Why a recipe waits.
NO_IDLE_SYSTEM: Final = "no idle system is viable"
NO_IDLE_ACCESS: Final = "no idle system is viable: it may not be submitted to those that would do"
ALL_BROKEN: Final = "every viable system is broken"
NONE_USABLE: Final = "no viable system is usable now, busy ones included"
ALL_SILENT: Final = "the lab controller of every viable system is silent"
ALL_LENT: Final = "every system that could run it is on loan to somebody else"
SET_INCOMPLETE: Final = "no lab has usable systems for its whole set now, busy ones included"
UNSAFE: Final = "unsafe: with this system its set and others could wait for each other for ever"
LET_GO: Final = "its set let go: it could not be completed, or stood in the way of others"

# Why admission holds a set back; followed by the name of the job filter, and by its reason.
PAUSED: Final = "paused by the job filter"

# Why a stopped queue holds a set back; followed by the path of the queue.
QUEUE_STOPPED: Final = "held back by the stopped queue"

# Why a set gets no room under a limit; followed by the limit.
NO_ROOM: Final = "no room under a limit"
ROOM_KEPT: Final = "the room is kept for a set that has waited long for more of it"

LAB_SILENT: Final = "its lab controller is silent"
PARTITION_STOPPED: Final = "the partition is stopped: nothing is granted until an admin starts it"
TREE_AWAY: Final = "its distro tree is away"
SIBLING_TREE_AWAY: Final = "the distro tree of another recipe of its set is away"
IN_ANOTHER_LAB: Final = "its set has a system in another lab"
TO_BE_ASKED: Final = "it is about to be asked who takes it"
# Why one recipe comes before another.
ITS_SET_IS_IN_LAB: Final = "its set has a system in this lab already"
OVERTAKEN: Final = "its set was overtaken as often as allowed"
SUBMITTED_BEFORE: Final = "submitted before"
PREEMPTED: Final = "preempted by recipe set"
CLAIMS_IT: Final = "it claims the system"
CLAIMED: Final = "claimed by recipe"
OWN_CLAIM: Final = "this recipe claims it"

# Why a recipe is given up.
NO_DISTRO_TREE: Final = "no distro tree matches the distro requirements"
DISTRO_LEFT: Final = "its distro tree has left every lab"
# Why an open job is closed by the scheduler.
JOB_IDLE: Final = "its last recipe ended 30 s ago"
NO_LAB_HAS_ALL_TREES: Final = "no lab has the distro trees of all recipes of the set"
NO_LAB_FOR_ALL: Final = "no lab has enough viable systems for all recipes of the set at once"
FIT_IN_DIFFERENT_LABS: Final = "the recipes of its set fit only in different labs"
SIBLING_IMPOSSIBLE: Final = "another recipe of its set could never run"
WATCHDOG_EXPIRED: Final = "its watchdog expired"

# Why a reservation ends.
RESERVATION_OVER: Final = "its time is over"

# Why a loan ends, and with it anything that only the loan allowed.
LOAN_OVER: Final = "the time of the loan is over"

# The reason of each rule that keeps a single system from a recipe.
OF_SYSTEM: Final = {
    "registered": "it is Removed",
    "distro": "its lab does not have the distro tree",
    "guests": "its lab does not have the distro trees of the guests",
    "arch": "it does not have the architecture of the distro tree",
    "exclusion": "it excludes the distro family",
    "requirement": "it does not match the host requirements",
    "access": "the owner and the group of the job may not submit there",
    "loan": "it is on loan to somebody else",
}

# Why no system could ever run a recipe, by the rule that leaves no system.
NOT_REGISTERED: Final = "no system is registered"
NO_LAB_HAS_THE_TREE: Final = "no lab with systems has the distro tree"
NO_LAB_HAS_THE_GUESTS: Final = "no lab has the distro trees of its guests as well"
NO_SYSTEM_OF_THE_ARCH: Final = "no system has the architecture of the distro tree"
ALL_EXCLUDE_THE_FAMILY: Final = "every system excludes the distro family"
NO_SYSTEM_MATCHES: Final = "no system matches the host requirements"
NO_ACCESS: Final = "its owner and group may submit to none of the systems that could run it"
# The same if some systems match the host requirements: what each of these lacks besides.
NO_MATCH_HAS_THE_TREE: Final = "no system that matches the host requirements is in a lab with the distro tree"
NO_MATCH_HAS_THE_GUESTS: Final = (
    "no system that matches the host requirements is in a lab with the distro trees of its guests"
)
NO_MATCH_OF_THE_ARCH: Final = (
    "no system that matches the host requirements has the architecture of the distro tree"
)
ALL_MATCHES_EXCLUDE: Final = "every system that matches the host requirements excludes the distro family"
NO_MATCH_FITS: Final = "no system that matches the host requirements can install the distro tree"

ABOUT_TREES: Final = (
    *(NO_LAB_HAS_THE_TREE, NO_LAB_HAS_THE_GUESTS, NO_SYSTEM_OF_THE_ARCH, ALL_EXCLUDE_THE_FAMILY),
    *(NO_MATCH_HAS_THE_TREE, NO_MATCH_HAS_THE_GUESTS, NO_MATCH_OF_THE_ARCH, ALL_MATCHES_EXCLUDE),
    *(NO_MATCH_FITS, DISTRO_LEFT, NO_LAB_HAS_ALL_TREES, NO_LAB_FOR_ALL),
)
"""Reasons that are followed by a colon and the labs of the trees in question (`tree_locations`)."""


SHOWN: Final[Mapping[str, str]] = {
    NO_IDLE_SYSTEM: "no usable system is free",
    NO_IDLE_ACCESS: "no usable system is free, and access policies exclude the free ones that match",
    ALL_BROKEN: "every system that could run it is broken",
    NONE_USABLE: "no system that could run it is usable now, not even a busy one",
    ALL_SILENT: "every system that could run it belongs to a silent lab controller",
    ALL_LENT: "every system that could run it is on loan to another user",
    SET_INCOMPLETE: "no lab has enough usable systems for its set now, even counting busy ones",
    UNSAFE: "with this system, its recipe set and others could deadlock",
    LET_GO: "its recipe set released its systems to avoid a deadlock",
    TREE_AWAY: "no lab has its distro tree now",
    SIBLING_TREE_AWAY: "no lab has the distro tree of another recipe of its set now",
    TO_BE_ASKED: "the scheduler is about to choose a recipe for it",
    DISTRO_LEFT: "no lab has its distro tree any more",
    NOT_REGISTERED: "its partition has no systems",
    NO_LAB_FOR_ALL: "no lab has enough matching systems for all recipes of the set",
    RESERVATION_OVER: "the reservation has expired",
    LOAN_OVER: "the loan has expired",
    OF_SYSTEM["loan"]: "it is on loan to another user",
}


def shown_reason(reason: str) -> str:
    """Return the text that users see for a stored reason; a suffix after `: ` is kept."""
    if reason in SHOWN:
        return SHOWN[reason]
    stored, colon, suffix = reason.partition(": ")
    return f"{SHOWN.get(stored, stored)}{colon}{suffix}"
