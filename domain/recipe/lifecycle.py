"""The life cycles of recipes and tasks, with the case for each transition (design section 2)."""

from __future__ import annotations

from domain.lifecycle import Lifecycle, fan_in

UNPLACED = ("new", "queued", "assigned")
BEFORE_START = (*UNPLACED, "scheduled")
STARTED = ("waiting", "installing", "running", "reserved")
PLACED = ("scheduled", *STARTED)
# When a recipe enters one of these states, its open tasks end too.
GIVEN_UP = ("cancelled", "aborted")
# Results of failed tasks. Warn is one, too: a task with this result has not done its work.
BAD_RESULTS = frozenset({"Warn", "Fail", "Panic"})
FINISHED = ("completed", *GIVEN_UP)
UNFINISHED = UNPLACED + PLACED

RECIPE = Lifecycle(
    name="recipe",
    states=UNFINISHED + FINISHED,
    start=("new",),
    rows=(
        ("new", "scheduled", "a usable idle system was found"),
        ("new", "assigned", "a sibling got a system"),
        ("new", "queued", "no recipe of the set got a system"),
        ("queued", "scheduled", "a pending system took it"),
        ("queued", "assigned", "a pending system took a sibling"),
        ("assigned", "scheduled", "a usable system of the lab came free"),
        ("scheduled", "assigned", "its system was withdrawn or let go"),
        ("scheduled", "queued", "the set holds no system any more"),
        ("assigned", "queued", "the set holds no system any more"),
        ("scheduled", "waiting", "every recipe of the set is scheduled"),
        ("waiting", "installing", "the lab controller has begun to provision"),
        ("waiting", "scheduled", "a sibling's system was withdrawn"),
        ("waiting", "assigned", "its system was withdrawn"),
        ("waiting", "queued", "withdrawn or preempted"),
        ("installing", "running", "the first task started"),
        ("installing", "queued", "preempted"),
        ("running", "queued", "preempted"),
        ("running", "reserved", "the last task ended, or it was given up; the job keeps the system"),
        ("running", "completed", "the last task ended"),
        ("installing", "reserved", "it was given up; the job keeps the system"),
        ("reserved", "completed", "returned or expired"),
        *fan_in(UNFINISHED, ("cancelled",), "a person stopped it"),
        *fan_in(UNFINISHED, ("aborted",), "the service or the lab gave it up"),
    ),
)

OPEN_TASK = ("new", "running")

TASK = Lifecycle(
    name="task",
    states=(*OPEN_TASK, "completed", "aborted", "cancelled"),
    start=("new",),
    rows=(
        ("new", "running", "started"),
        ("running", "completed", "ended"),
        *fan_in(OPEN_TASK, ("aborted",), "the lab gave it up, or its recipe was aborted"),
        *fan_in(OPEN_TASK, ("cancelled",), "its recipe was cancelled"),
    ),
)
