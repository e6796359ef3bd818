"""`labledger locks`: resource locks that recipes hold or await."""

from __future__ import annotations

import click

from cli.arguments.params import WordChoice
from cli.lists.listing import Listing, list_command, since
from cli.terminal.tables import Column, Row
from domain.contention.locks import ALIASES, LEVELS, WHOLE_LAB

STATES = ("held", "awaited")


def _waits_for(row: Row) -> str:
    """Return the sets for which an awaited lock waits, and the number of those that are not listed."""
    listed = row.get("waits_for") or []
    more = (row.get("waits_for_count") or 0) - len(listed)
    return ", ".join([*map(str, listed), *([f"{more} more"] if more > 0 else [])])


def _overtaken(row: Row) -> str:
    if row.get("overtaken") is None:
        return ""
    return f"{row['overtaken']}, owed" if row.get("owed") else str(row["overtaken"])


LOCKS = Listing(
    "/locks",
    "locks",
    (
        Column("level", "level", rank=0),
        Column("name", lambda row: row.get("name") or "(all)", rank=0),
        Column("mode", "mode", rank=0),
        Column("state", "state", "state", 0),
        Column("recipe", "recipe_id", "number", 0),
        Column("set", "recipe_set_id", "number", 0),
        Column("job", "job_id", "number", 3),
        Column("for", since, "number", 1),
        Column("waits for sets", _waits_for, "text", 0),
        Column("overtaken", _overtaken, rank=1),
        Column("owner", "owner", rank=2),
        Column("lab controller", "lab_controller", rank=4),
    ),
    "No recipe holds or awaits a resource lock.",
    "No recipe held or awaited a resource lock then.",
)
locks = list_command(
    "locks",
    LOCKS,
    "List the resource locks that recipes hold or await, by level and name, and the sets that are in the way"
    " of a recipe set that awaits locks.",
    filters=(
        click.Option(
            ["--level"],
            type=WordChoice((*LEVELS, WHOLE_LAB), ALIASES),
            help="Only locks of this level.",
        ),
        click.Option(
            ["--name"], metavar="NAME", help="Only locks on this name, with those on everything at a level."
        ),
        click.Option(["--state"], type=WordChoice(STATES), help="Only locks in this state."),
    ),
)
