"""The state machines of the design (section 2), written independently of the scheduler's."""

from __future__ import annotations

EVERYBODY, DEFAULT_PARTITION = 0, 1
"""The number of what concerns all partitions, and that of the partition which needs no creation."""

WITHOUT_LAB = ("new", "queued")
IN_QUEUE = ("queued", "assigned")
UNPLACED = ("new", *IN_QUEUE)
BEFORE_START = (*UNPLACED, "scheduled")
# All recipes of the set have systems. In `waiting` they have started only if they have their locks.
SET_PLACED = ("waiting", "installing", "running", "reserved")
PLACED = ("scheduled", *SET_PLACED)
FINISHED = ("completed", "cancelled", "aborted")

GIVEN_UP = ("cancelled", "aborted")

RECIPE_MOVES: dict[str, tuple[str, ...]] = {
    "new": ("scheduled", "assigned", "queued", *GIVEN_UP),
    "queued": ("scheduled", "assigned", *GIVEN_UP),
    "assigned": ("scheduled", "queued", *GIVEN_UP),
    # To assigned or queued: its system was withdrawn, or its set let go.
    "scheduled": ("assigned", "queued", "waiting", *GIVEN_UP),
    # To scheduled, assigned or queued: a system of the set was withdrawn, or the set was preempted.
    "waiting": ("installing", "scheduled", "assigned", "queued", *GIVEN_UP),
    # To reserved: it was given up, but keeps its system as its job requested.
    "installing": ("running", "reserved", "queued", *GIVEN_UP),
    "running": ("reserved", "completed", "queued", *GIVEN_UP),
    "reserved": ("completed", *GIVEN_UP),
    "completed": (),
    "cancelled": (),
    "aborted": (),
}

CLAIMED, CLAIM_ENDED = "recipe.claimed", "recipe.claim-ended"
"""The topics of the events that begin and end claims."""

SERVED, ENDED, SYSTEM_AWAY, NO_ROOM, OVER = "served", "ended", "system away", "no room", "over"
"""The reasons for which claims end."""

FREE = ("idle", "pending")

USAGE_MOVES = {
    # To waiting or running only for a person with a reservation.
    "idle": ("pending", "scheduled", "waiting", "running"),
    "pending": ("idle", "scheduled"),
    "scheduled": ("waiting", *FREE),
    "waiting": ("installing", "scheduled", *FREE),
    "installing": ("running", *FREE),
    "running": FREE,
}

# State of a recipe -> usage of its system.
MIRRORED = {
    "scheduled": "scheduled",
    "waiting": "waiting",
    "installing": "installing",
    "running": "running",
    "reserved": "running",
}

# In descending urgency.
PRIORITIES = ("Urgent", "High", "Normal", "Medium", "Low")
URGENCY = {priority: rank for rank, priority in enumerate(PRIORITIES)}
