"""Names and ids that a shell may complete, asked of the server.

Nobody waits for a shell: what does not answer at once, or does not answer well, completes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from cli.lists.directory import DISTRO_TREES, GROUPS, POOLS, TOKENS, USERS
from cli.lists.jobs import JOBS, QUEUE
from cli.lists.listing import Listing
from cli.lists.systems import LAB_CONTROLLERS, SYSTEMS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

ANSWER_SECONDS = 1.0
# More than that nobody reads, and nobody waits for.
MOST_NAMES = 5_000
MOST_JOBS = 100

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def names(listing: Listing, field: str, told: str = "", most: int = MOST_NAMES) -> Complete:
    """Completes a field of the rows of a list; another field is what shells show beside it."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found = ((str(row[field]), row.get(told)) for row in _rows(ctx, listing, most))
        return [
            CompletionItem(name, help=_one_line(more)) for name, more in found if name.startswith(incomplete)
        ]

    return complete


def topics(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Of a list with commas the last."""
    from click.shell_completion import CompletionItem

    import domain.all_events  # noqa: F401
    from domain.events import TOPICS

    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{topic}") for topic in sorted(TOPICS) if topic.startswith(last)]


def _rows(ctx: click.Context, listing: Listing, most: int) -> list[dict[str, Any]]:
    from api.client.patience import AT_ONCE
    from cli.remote import connect

    given = (ctx.params.get(name) for name in ("url", "token", "data"))
    at_once: dict[str, Any] = {
        "patience": AT_ONCE,
        "answer_seconds": ANSWER_SECONDS,
    }
    try:
        with ctx.scope(cleanup=False), connect(*given, **at_once) as client:
            found: list[dict[str, Any]] = client.pages(listing.path, listing.name, limit=most)[listing.name]
            return found
    except Exception:
        return []


def _one_line(text: Any) -> str | None:
    from cli.terminal.wording import plain

    return plain(text) or None


systems = names(SYSTEMS, "fqdn", "condition")
jobs = names(JOBS, "job_id", "whiteboard", MOST_JOBS)
unplaced_recipes = names(QUEUE, "recipe_id", "whiteboard", MOST_JOBS)
unplaced_sets = names(QUEUE, "recipe_set_id", "whiteboard", MOST_JOBS)
lab_controllers = names(LAB_CONTROLLERS, "fqdn")
distro_trees = names(DISTRO_TREES, "id", "name")
pools = names(POOLS, "name")
groups = names(GROUPS, "name")
users = names(USERS, "name")
tokens = names(TOKENS, "token_id", "user")
