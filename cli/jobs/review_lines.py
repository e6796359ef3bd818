"""The review of a recipe set and the waivers of its failures, in words."""

from __future__ import annotations

from collections.abc import Iterator

from cli.jobs.result_rows import waiver_text
from cli.terminal.tables import Row
from cli.terminal.wording import clock, counted, plain, zone


def review_lines(recipe_set: Row) -> Iterator[str]:
    """Yield a line each for the review, the waiver of the set, and the counts if some tasks are waived."""
    # Earlier versions of the service have neither.
    if review := recipe_set.get("review"):
        yield plain(
            f"{review['review']} by {review['by']}, {clock(review['at'])} {zone()}: {review['reason']}"
        )
    if waiver := waiver_text(recipe_set):
        yield plain(f"waived {waiver}")
    if waived := recipe_set.get("waived_task_count"):
        yield f"{counted(waived, 'waived task')}, {recipe_set['failed_task_count']} failed"
