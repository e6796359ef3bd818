"""A second copy of the documented state machines: (from, to), where commas separate several states.

The rows are written by hand, so that a mistaken change of a row in the code fails a test.
"""

from __future__ import annotations

UNFINISHED = "new, queued, assigned, scheduled, waiting, installing, running, reserved"

RECIPE = (
    # A usable idle system was found; a sibling got one; no recipe of the set did.
    ("new", "scheduled, assigned, queued"),
    # A pending system took it, or a sibling.
    ("queued", "scheduled, assigned"),
    # A usable system of the set's lab came free.
    ("assigned", "scheduled"),
    # Its system was withdrawn, or the set let go.
    ("scheduled", "assigned, queued"),
    ("assigned", "queued"),
    # Every recipe of the set is scheduled.
    ("scheduled", "waiting"),
    # The lab controller has begun to provision.
    ("waiting", "installing"),
    # A system of the set was withdrawn before the set held its resource locks.
    ("waiting", "scheduled, assigned, queued"),
    # The first task started.
    ("installing", "running"),
    # Preempted, with its set.
    ("waiting, installing, running", "queued"),
    # The last task ended.
    ("running", "reserved, completed"),
    # Given up, and the job keeps the system.
    ("installing, running", "reserved"),
    # Returned or expired.
    ("reserved", "completed"),
    # A person stopped it, or the service or the lab gave it up.
    (UNFINISHED, "cancelled, aborted"),
)

USAGE = (
    # The queue is asked first, whenever a system may be about to be idle.
    ("idle", "pending"),
    ("pending", "idle"),
    # Granted.
    ("idle, pending", "scheduled"),
    # From here on the usage mirrors the recipe, forward ...
    ("scheduled", "waiting"),
    ("waiting", "installing"),
    ("installing", "running"),
    # ... and back, when a sibling's system was withdrawn.
    ("waiting", "scheduled"),
    # A person reserved it, and has it provisioned first or not.
    ("idle", "waiting, running"),
    # The recipe ended or lost it, or the person returned it: pending if it is Automated, else idle.
    ("scheduled, waiting, installing, running", "pending, idle"),
)

TASK = (
    ("new", "running"),
    ("running", "completed"),
    # With its recipe, or by itself.
    ("new, running", "aborted, cancelled"),
)

COMMAND = (
    ("queued", "running"),
    # A fast lab controller may report only the end.
    ("queued, running", "completed, failed"),
)


def pairs(table: tuple[tuple[str, str], ...]) -> set[tuple[str, str]]:
    return {
        (before, after)
        for sources, targets in table
        for before in sources.split(", ")
        for after in targets.split(", ")
    }
