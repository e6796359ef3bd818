"""Shell completion of names and ids, read from the server: without retries, and empty after a failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from cli.lists.directory import DISTRO_TREES, FILTERS, GROUPS, POOLS, TOKENS, USERS
from cli.lists.jobs import JOBS, QUEUE
from cli.lists.listing import Listing
from cli.lists.systems import LAB_CONTROLLERS, SYSTEMS
from cli.terminal.wording import plain
from domain.directory.partitions import DEFAULT

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from api.client import Client

ANSWER_SECONDS = 1.0
# Limits that keep completion fast.
MAX_NAMES = 5_000
MAX_JOBS = 100

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def names(listing: Listing, field: str, description: str = "", limit: int = MAX_NAMES) -> Complete:
    """Return a completer for a field of a list; shells show the field `description` beside each value."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        rows = _rows(ctx, lambda client: client.pages(listing.path, listing.name, limit=limit)[listing.name])
        found = ((str(row[field]), plain(row.get(description)) or None) for row in rows)
        return [CompletionItem(name, help=more) for name, more in found if name.startswith(incomplete)]

    return complete


def partitions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a partition; the list of partitions has no pages."""
    from click.shell_completion import CompletionItem

    rows = _rows(ctx, lambda client: client.get("/partitions")["partitions"])
    found = ((row["name"], plain(row.get("state")) or None) for row in rows)
    return [CompletionItem(name, help=state) for name, state in found if name.startswith(incomplete)]


def leaf_queues(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the path of a queue without queues below it, in the partition of the option `--partition`."""
    from click.shell_completion import CompletionItem

    partition = ctx.params.get("partition") or DEFAULT
    rows = _rows(ctx, lambda client: client.get(client.path("partitions", partition, "queues"))["queues"])
    parents = {row["path"].rpartition(".")[0] for row in rows}
    found = ((row["path"], row["state"]) for row in rows if row["path"] not in parents)
    return [CompletionItem(path, help=state) for path, state in found if path.startswith(incomplete)]


def topics(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    import domain.all_events  # noqa: F401
    from domain.events import TOPICS

    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{topic}") for topic in sorted(TOPICS) if topic.startswith(last)]


def _rows(ctx: click.Context, read: Callable[[Client], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    from api.client.retry_policy import NO_RETRIES
    from cli.remote import connect

    given = (ctx.params.get(name) for name in ("url", "token", "data"))
    at_once: dict[str, Any] = {"policy": NO_RETRIES, "answer_seconds": ANSWER_SECONDS}
    try:
        with ctx.scope(cleanup=False), connect(*given, **at_once) as client:
            return read(client)
    except Exception:
        return []


systems = names(SYSTEMS, "fqdn", "condition")
jobs = names(JOBS, "job_id", "whiteboard", MAX_JOBS)
unplaced_recipes = names(QUEUE, "recipe_id", "whiteboard", MAX_JOBS)
unplaced_sets = names(QUEUE, "recipe_set_id", "whiteboard", MAX_JOBS)
lab_controllers = names(LAB_CONTROLLERS, "fqdn")
distro_trees = names(DISTRO_TREES, "id", "name")
pools = names(POOLS, "name")
groups = names(GROUPS, "name")
job_filters = names(FILTERS, "name", "action")
users = names(USERS, "name")
tokens = names(TOKENS, "token_id", "user")
