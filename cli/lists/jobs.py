"""The lists of jobs and of waiting recipes."""

from __future__ import annotations

from cli.lists.listing import PARTITION, Listing, since
from cli.terminal.tables import Column, Row
from cli.terminal.wording import clock, weight, zone


def _priority(row: Row) -> str:
    """Return the nominal priority, and the effective priority on the system of the filter if it is lower."""
    nominal, effective = row.get("priority"), row.get("effective_priority")
    return f"{nominal} as {effective}" if effective not in (None, nominal) else str(nominal)


def _held_back(row: Row) -> str:
    """Return why the set gets no first system. Earlier versions of the service do not say."""
    return "; ".join(each["reason"] for each in row.get("held_back") or ())


JOBS = Listing(
    "/jobs",
    "jobs",
    (
        Column("job", "job_id", "number", 0),
        Column("state", "state", "state", 0),
        # Earlier versions of the service have no stages.
        Column("stage", lambda row: row.get("stage", ""), rank=1),
        Column("result", "result", "state"),
        Column("sets", "recipe_set_ids", "text", 3),
        Column("owner", "owner", rank=2),
        Column("group", "group", rank=2),
        PARTITION,
        Column(f"submitted ({zone()})", lambda row: clock(row.get("submitted_at")), rank=3),
        Column("whiteboard", "whiteboard", "text"),
    ),
    "No jobs yet: `labledger submit FILE` submits one.",
)
QUEUE = Listing(
    "/queue",
    "recipes",
    (
        Column("recipe", "recipe_id", "number", 0),
        Column("set", "recipe_set_id", "number", 2),
        Column("job", "job_id", "number"),
        Column("state", "state", "state", 0),
        Column("priority", _priority, "state"),
        Column("weight", weight, "number", 5),
        Column("waits", since, "number", 0),
        Column("owner", "owner", rank=2),
        Column("group", "group", rank=3),
        PARTITION,
        Column("lab controller", "lab_controller", rank=4),
        Column("held back", _held_back, "text", 1),
        Column("whiteboard", "whiteboard", "text", 3),
    ),
    "No recipe waits for a system.",
    "No recipe waited for a system then.",
    "No waiting recipe could use {system}.",
    "No recipe that was waiting then could have used {system}.",
)
