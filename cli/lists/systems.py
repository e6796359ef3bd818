"""The lists of systems, idle systems and lab controllers."""

from __future__ import annotations

from cli.lists.listing import PARTITION, Listing, since
from cli.terminal.tables import Column, Row
from cli.terminal.wording import clock, elapsed, lab_state, zone


def _condition(row: Row) -> str:
    further = ("draining", "occupied")
    return ", ".join([str(row.get("condition")), *(name for name in further if row.get(name))])


SYSTEMS = Listing(
    "/systems",
    "systems",
    (
        Column("system", "fqdn", rank=0),
        Column("lab controller", "lab_controller", rank=4),
        PARTITION,
        Column("condition", _condition, "state", 0),
        Column("ticket", "ticket", rank=3),
        Column("usage", "usage", "state", 0),
        Column("recipe", "recipe_id", "number"),
        Column("user", "user"),
        Column("on loan to", "loaned_to", rank=4),
        Column("type", "type", rank=6),
        Column("arches", "arches", rank=2),
        Column("memory MB", "memory_mb", "number", 3),
        Column("pools", "pools", "text", 5),
    ),
    "No systems yet: `labledger lab load FILE` adds some.",
)
IDLE = Listing(
    "/idle-pool",
    "systems",
    (
        Column("system", "fqdn", rank=0),
        Column("lab controller", "lab_controller", rank=2),
        PARTITION,
        Column(f"idle since ({zone()})", lambda row: clock(row.get("since")), rank=3),
        Column("for", since, "number"),
    ),
    "No system is idle.",
    "No system was idle then.",
)
LAB_CONTROLLERS = Listing(
    "/lab-controllers",
    "lab_controllers",
    (
        Column("lab controller", "fqdn", rank=0),
        PARTITION,
        Column("state", lab_state, "state", 0),
        Column(f"last heard ({zone()})", lambda row: clock(row.get("last_heard_at")), rank=2),
        Column("ago", lambda row: elapsed(row.get("last_heard_at")), "number"),
    ),
    "No lab controllers yet: `labledger lab load FILE` adds some.",
)
