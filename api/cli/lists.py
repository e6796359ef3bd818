"""The lists: each a path, the name of its rows, and the columns people see."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from api.cli.as_of import as_of
from api.cli.output import Column, Output, Row
from api.cli.remote import remote
from api.cli.wording import clock, elapsed

if TYPE_CHECKING:
    from api.client import Client


def limit(rows: int | None) -> Callable[[Any], Any]:
    many = "all of them" if rows is None else str(rows)
    return click.option("--limit", type=click.IntRange(1), default=rows, help=f"At most so many [{many}].")


def _since(row: Row) -> str:
    return elapsed(row.get("since"), row.get("as_of"))


def _weight(row: Row) -> str:
    return "" if row.get("weight") is None else f"{row['weight']:g}"


def _priority(row: Row) -> str:
    """The nominal priority, and what it comes to on the system asked about, if less."""
    nominal, effective = row.get("priority"), row.get("effective_priority")
    return f"{nominal} as {effective}" if effective not in (None, nominal) else str(nominal)


def _condition(row: Row) -> str:
    return f"{row.get('condition')}, draining" if row.get("draining") else str(row.get("condition"))


JOB_COLUMNS = (
    Column("job", "job_id", right=True),
    Column("state", "state"),
    Column("result", "result"),
    Column("sets", "recipe_set_ids"),
    Column("owner", "owner"),
    Column("group", "group"),
    Column("whiteboard", "whiteboard"),
)

QUEUE_COLUMNS = (
    Column("recipe", "recipe_id", right=True),
    Column("set", "recipe_set_id", right=True),
    Column("job", "job_id", right=True),
    Column("state", "state"),
    Column("priority", _priority),
    Column("weight", _weight, right=True),
    Column("waits", _since, right=True),
    Column("owner", "owner"),
    Column("group", "group"),
    Column("lab controller", "lab_controller"),
    Column("whiteboard", "whiteboard"),
)

LAB_CONTROLLER_COLUMNS = (
    Column("lab controller", "fqdn"),
    Column("enabled", "enabled"),
    Column("silent", "silent"),
    Column("last heard (UTC)", lambda row: clock(row.get("last_heard_at"))),
    Column("ago", lambda row: elapsed(row.get("last_heard_at")), right=True),
)

IDLE_COLUMNS = (
    Column("system", "fqdn"),
    Column("lab controller", "lab_controller"),
    Column("idle since (UTC)", lambda row: clock(row.get("since"))),
    Column("for", _since, right=True),
)

SYSTEM_COLUMNS = (
    Column("system", "fqdn"),
    Column("lab controller", "lab_controller"),
    Column("condition", _condition),
    Column("usage", "usage"),
    Column("recipe", "recipe_id", right=True),
    Column("user", "user"),
    Column("type", "type"),
    Column("arches", "arches"),
    Column("memory MB", "memory_mb", right=True),
    Column("pools", "pools"),
)


@click.command
@limit(20)
@as_of
@remote
def jobs(client: Client, output: Output, limit: int, as_of: str | None) -> None:
    """List jobs, newest first."""
    document = client.pages("/jobs", "jobs", limit=limit, as_of=as_of)
    output.rows(document, "jobs", JOB_COLUMNS, empty="No jobs yet: `labledger submit FILE` makes one.")


@click.command
@limit(None)
@as_of
@remote
def queue(client: Client, output: Output, limit: int | None, as_of: str | None) -> None:
    """List the recipes that wait for a system, in rank order."""
    document = client.pages("/queue", "recipes", limit=limit, as_of=as_of)
    output.rows(document, "recipes", QUEUE_COLUMNS, empty="Nothing waits.")


@click.command
@limit(None)
@as_of
@remote
def idle(client: Client, output: Output, limit: int | None, as_of: str | None) -> None:
    """List the idle pool: systems that could take a recipe now."""
    document = client.pages("/idle-pool", "systems", limit=limit, as_of=as_of)
    output.rows(document, "systems", IDLE_COLUMNS, empty="No system is idle.")


@click.command
@limit(None)
@as_of
@remote
def systems(client: Client, output: Output, limit: int | None, as_of: str | None) -> None:
    """List the systems, their condition and what they do."""
    document = client.pages("/systems", "systems", limit=limit, as_of=as_of)
    output.rows(
        document, "systems", SYSTEM_COLUMNS, empty="No systems yet: `labledger lab load FILE` adds some."
    )


@click.command("lab-controllers")
@limit(None)
@as_of
@remote
def lab_controllers(client: Client, output: Output, limit: int | None, as_of: str | None) -> None:
    """List the lab controllers, and when each was last heard."""
    document = client.pages("/lab-controllers", "lab_controllers", limit=limit, as_of=as_of)
    output.rows(document, "lab_controllers", LAB_CONTROLLER_COLUMNS, empty="No lab controllers yet.")
