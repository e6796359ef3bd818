"""The lists: each a path, the name of its rows, and the columns people see."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from api.cli.as_of import as_of, require_past
from api.cli.output import Output, note
from api.cli.params import Whole
from api.cli.progress import counting
from api.cli.remote import remote, wide
from api.cli.tables import Column, Row
from api.cli.wording import clock, elapsed, zone

if TYPE_CHECKING:
    from api.client import Client

FIRST_ROWS = 100


@dataclass(frozen=True)
class Listing:
    """A list of the API; `empty` is what people read where it has no rows."""

    path: str
    name: str
    columns: tuple[Column, ...]
    empty: str

    def show(self, client: Client, output: Output, limit: int | None, as_of: str | None) -> None:
        with counting(f"reading {self.name.replace('_', ' ')}") as seen:
            document = client.pages(self.path, self.name, limit=limit, seen=seen, as_of=as_of)
        require_past(client, as_of, document)
        output.rows(document, self.name, self.columns, empty=self.empty)
        if document["next"] is not None and not output.as_json:
            note(f"more: --all shows them, or --limit N the first N; these are {len(document[self.name])}")


def limits(rows: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Options that become one argument, `limit`: None for all."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def limited(*args: Any, limit: int, show_all: bool, **kwargs: Any) -> None:
            command(*args, limit=None if show_all else limit, **kwargs)

        every = click.option("--all", "show_all", is_flag=True, help="All there are.")
        first = click.option(
            "--limit", type=Whole(), default=rows, show_default=True, help="At most so many."
        )
        return first(every(limited))

    return decorate


def list_command(name: str, listing: Listing, text: str, *, rows: int = FIRST_ROWS) -> click.Command:
    """The command that shows a list."""

    def shown(client: Client, output: Output, limit: int | None, as_of: str | None) -> None:
        listing.show(client, output, limit, as_of)

    return click.command(name, help=text)(limits(rows)(as_of(wide(remote(shown)))))


def since(row: Row) -> str:
    return elapsed(row.get("since"), row.get("as_of"))


def _weight(row: Row) -> str:
    return "" if row.get("weight") is None else f"{row['weight']:g}"


def _priority(row: Row) -> str:
    """The nominal priority, and what it comes to on the system asked about, if less."""
    nominal, effective = row.get("priority"), row.get("effective_priority")
    return f"{nominal} as {effective}" if effective not in (None, nominal) else str(nominal)


def _condition(row: Row) -> str:
    return f"{row.get('condition')}, draining" if row.get("draining") else str(row.get("condition"))


def _switched(row: Row) -> str:
    words = (("disabled", not row.get("enabled")), ("silent", row.get("silent")))
    return ", ".join(word for word, so in words if so) or "enabled"


JOBS = Listing(
    "/jobs",
    "jobs",
    (
        Column("job", "job_id", "number", 0),
        Column("state", "state", "state", 0),
        Column("result", "result", "state"),
        Column("sets", "recipe_set_ids", "text", 3),
        Column("owner", "owner", rank=2),
        Column("group", "group", rank=2),
        Column(f"submitted ({zone()})", lambda row: clock(row.get("submitted_at")), rank=3),
        Column("whiteboard", "whiteboard", "text"),
    ),
    "No jobs yet: `labledger submit FILE` makes one.",
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
        Column("weight", _weight, "number", 5),
        Column("waits", since, "number", 0),
        Column("owner", "owner", rank=2),
        Column("group", "group", rank=3),
        Column("lab controller", "lab_controller", rank=4),
        Column("whiteboard", "whiteboard", "text", 3),
    ),
    "Nothing waits.",
)
IDLE = Listing(
    "/idle-pool",
    "systems",
    (
        Column("system", "fqdn", rank=0),
        Column("lab controller", "lab_controller", rank=2),
        Column(f"idle since ({zone()})", lambda row: clock(row.get("since")), rank=3),
        Column("for", since, "number"),
    ),
    "No system is idle.",
)
SYSTEMS = Listing(
    "/systems",
    "systems",
    (
        Column("system", "fqdn", rank=0),
        Column("lab controller", "lab_controller", rank=4),
        Column("condition", _condition, "state", 0),
        Column("usage", "usage", "state", 0),
        Column("recipe", "recipe_id", "number"),
        Column("user", "user"),
        Column("type", "type", rank=6),
        Column("arches", "arches", rank=2),
        Column("memory MB", "memory_mb", "number", 3),
        Column("pools", "pools", "text", 5),
    ),
    "No systems yet: `labledger lab load FILE` adds some.",
)
LAB_CONTROLLERS = Listing(
    "/lab-controllers",
    "lab_controllers",
    (
        Column("lab controller", "fqdn", rank=0),
        Column("state", _switched, "state", 0),
        Column(f"last heard ({zone()})", lambda row: clock(row.get("last_heard_at")), rank=2),
        Column("ago", lambda row: elapsed(row.get("last_heard_at")), "number"),
    ),
    "No lab controllers yet: `labledger lab load FILE` adds some.",
)

jobs = list_command("jobs", JOBS, "List jobs, newest first.", rows=20)
queue = list_command("queue", QUEUE, "List the recipes that wait for a system, in rank order.")
idle = list_command("idle", IDLE, "List the idle pool: systems that could take a recipe now.")
systems = list_command("systems", SYSTEMS, "List the systems, their condition and what they do.")
lab_controllers = list_command(
    "lab-controllers", LAB_CONTROLLERS, "List the lab controllers, and when each was last heard."
)
