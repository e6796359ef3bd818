"""`labledger matches`: the systems that could run a job, before its submission."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

import click

from cli.arguments.params import limit_option
from cli.jobs.file_answers import post
from cli.jobs.job_files import JSON, STDIN, content_type
from cli.remote import remote, wide
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from cli.terminal.wording import counted, reason_of
from domain.scheduling.supply.reasons import shown_reason

if TYPE_CHECKING:
    from api.client import Client

# Fits on a screen.
DEFAULT_LIMIT = 20
# A document that is a host requirement instead of a job.
HOST_REQUIRES_ONLY = re.compile(rb"\s*(<\?xml[^>]*\?>)?(\s|<!--.*?-->)*<hostRequires\b", re.DOTALL)

VIABLE = (Column("system", "fqdn", rank=0),)
EXCLUDED = (Column("systems", "systems", "number", 0), Column("excluded because", reason_of, "text", 0))
EVERY = (
    Column("system", "fqdn", rank=0),
    Column("can run it", "viable", "state", 0),
    Column("because", lambda row: map(shown_reason, row["reasons"]), "text", 0),
)


@click.command
@click.argument("file", metavar="FILE", type=click.File("rb", lazy=False))
@click.option(
    "--every",
    is_flag=True,
    help="Show all systems in one table, each with whether it could run the job, and the reasons if not.",
)
@limit_option(DEFAULT_LIMIT, "Maximum number of systems to show for each recipe.")
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@wide
@remote
def matches(client: Client, output: Output, file: IO[bytes], every: bool, limit: int, strict: bool) -> None:
    """Show which systems could run the job in FILE, busy or not. Nothing is submitted.

    Use - for standard input, as in `labledger workflow … | labledger matches -`. If FILE contains only a
    <hostRequires> element, show the systems that match it, without regard to access policies and loans.

    Exit status 1 if FILE is refused, or if there is a recipe that no system could run, or that would be
    aborted.
    """
    answer = _matches_of(client, output, getattr(file, "name", STDIN), file.read(), strict=strict)
    if output.as_json:
        output.document(answer)
    else:
        for number, recipe in enumerate(answer["recipes"]):
            if number:
                click.echo()
            _show(output, recipe, every, limit, several=len(answer["recipes"]) > 1)
    if not all(_viable(recipe["systems"]) and not recipe["why_never"] for recipe in answer["recipes"]):
        raise click.exceptions.Exit(1)


def _matches_of(client: Client, output: Output, name: str, content: bytes, *, strict: bool) -> dict[str, Any]:
    kind = content_type(name, content)
    if HOST_REQUIRES_ONLY.match(content):
        document = {"host_requires_xml": content.decode(errors="replace")}
        kind, content = JSON, json.dumps(document).encode()
    answer = post(client, output, "/matches", name, content, kind, strict=strict)
    if answer is None:
        raise click.exceptions.Exit(1)
    return answer


def _viable(systems: Iterable[Row]) -> list[Row]:
    return [system for system in systems if system["viable"]]


def _show(output: Output, recipe: Row, every: bool, limit: int, *, several: bool) -> None:
    systems = recipe["systems"]
    viable = _viable(systems)
    # A host requirement without a job has no location.
    verb = "can run it" if recipe["where"] else "match"
    where = f"{recipe['where']}: " if several else ""
    click.echo(f"{where}{len(viable)} of {counted(len(systems), 'system')} {verb}")
    if recipe["why_never"] is not None:
        reason = shown_reason(recipe["why_never"])
        click.echo(f"{where}if it were submitted now, its recipe set would be aborted: {reason}")
    if recipe["estimate"] is not None:
        click.echo(f"{where}if it were submitted now: {recipe['estimate']['summary']}")
    shown = systems if every else viable
    if shown:
        click.echo()
        output.table(EVERY if every else VIABLE, shown[:limit])
    if len(shown) > limit:
        click.echo(f"Showing the first {limit} of {len(shown)}; use --limit N for more.")
    if not every and len(viable) < len(systems):
        click.echo()
        output.table(EXCLUDED, _by_reason(systems))


def _by_reason(systems: Iterable[Row]) -> list[Row]:
    """Return the number of excluded systems by reason, most first. A system may have several reasons."""
    reasons = Counter(reason for system in systems for reason in system["reasons"])
    return [{"systems": number, "reason": reason} for reason, number in reasons.most_common()]
