"""The effects of a dry run on recipe sets, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from cli.terminal.wording import counted

ENDS = {"wait": "held back", "cancel": "cancelled", "abort": "aborted"}


def effect_text(row: Row) -> str:
    """Return the effect on a set, in a word."""
    before, after = ((row[moment] or {}).get("effect") for moment in ("before", "after"))
    if row["placed"]:
        return "unchanged: placed"
    if before == after:
        return "unchanged"
    return "freed" if after is None else ENDS[after]


FILTER = Column("filter that applies", "applies")
COLUMNS = (
    Column("set", "recipe_set_id", "number", 0),
    Column("job", "job_id", "number", 1),
    Column("owner", "owner"),
    Column("priority", "priority", rank=3),
    FILTER,
    Column("effect", effect_text, rank=0),
    Column("reason", lambda row: (row["after"] or {}).get("reason"), "text", 4),
)


def print_effects(output: Output, effects: Mapping[str, Any], matched: str = "") -> None:
    """Print the recipe sets of a dry run, and the counts of changes after the text `matched`.

    The service looks at each set by itself, so several freed sets may need the same room.
    """
    if effects["recipe_sets"]:
        # A stopped queue or a limit holds back sets to which no filter applies.
        has_filter = any(row["applies"] for row in effects["recipe_sets"])
        columns = [column for column in COLUMNS if column is not FILTER or has_filter]
        output.table(columns, effects["recipe_sets"])
    held_back = effects["held_back"]
    subject = str(held_back) if matched else counted(held_back, "recipe set")
    each = ", each if it were the only one" if effects["freed"] > 1 else ""
    click.echo(f"{matched}{subject} would newly be held back or end, {effects['freed']} freed{each}")


def matched_text(effects: Mapping[str, Any]) -> str:
    """Return the number of recipe sets that a job filter matches, as the text before the other counts."""
    return f"{counted(effects['matching'], 'unfinished recipe set')} matched; "
