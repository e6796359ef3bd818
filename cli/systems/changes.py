"""`labledger system drain`, `undrain` and `condition`: changes of one system, or of many in one request."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.exclusion import require_exclusive
from cli.arguments.params import WordChoice, reason_option
from cli.lists import completing
from cli.lists.suggesting import similar_name_added
from cli.remote import remote, wide
from cli.systems.kind import SYSTEM
from cli.systems.selection import NamedSystems, fqdns_argument, selected_systems, selecting
from cli.terminal.output import Output, note
from cli.terminal.tables import Column
from domain.errors import listed
from domain.system.lifecycle import CONDITIONS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from api.client import Client

PATH = "/system-changes"
WAIT_SECONDS = 2.0
# The conditions in which a system gets no further recipe, so that a wait for the last one ends.
ENDING = tuple(condition for condition in CONDITIONS if condition != "Automated")
COLUMNS = (Column("system", "fqdn", rank=0), Column("outcome", "outcome", "text", 0))

_wait = click.option("--wait", is_flag=True, help="Wait until the recipes and reservations there have ended.")


@click.command
@fqdns_argument
@selecting
@reason_option
@_wait
@wide
@remote
def drain(
    client: Client,
    output: Output,
    fqdns: tuple[str, ...],
    reason: str | None,
    wait: bool,
    dry_run: bool,
    **selection: Any,
) -> None:
    """Drain systems: their recipes continue to their end, and no other recipe or person gets the systems."""
    body = {"draining": True, "reason": reason or ""}
    words = ("is draining", "was already draining")
    _change(client, output, fqdns, selection, body, words, dry_run, {"draining": "true"} if wait else None)


@click.command
@fqdns_argument
@selecting
@reason_option
@click.option(
    "--despite-maintenance", is_flag=True, help="Undrain also systems that a maintenance window drains."
)
@click.option("--wait", is_flag=True, help="Wait until waiting recipes have been considered for the systems.")
@wide
@remote
def undrain(
    client: Client,
    output: Output,
    fqdns: tuple[str, ...],
    reason: str | None,
    despite_maintenance: bool,
    wait: bool,
    dry_run: bool,
    **selection: Any,
) -> None:
    """End the draining of systems, so that they take recipes again."""
    body: dict[str, Any] = {"draining": False}
    if reason is not None:
        body["reason"] = reason
    if despite_maintenance:
        body["despite_maintenance"] = True
    words = ("takes recipes again", "was not draining")
    _change(client, output, fqdns, selection, body, words, dry_run, {"usage": "pending"} if wait else None)


def _systems_and_conditions(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete a condition or a further system, since only the last argument is the condition."""
    conditions = WordChoice(CONDITIONS).shell_complete(ctx, param, incomplete)
    return conditions + completing.systems(ctx, param, incomplete)


@click.command
@click.argument("fqdns", metavar="[FQDN]…", nargs=-1, shell_complete=_systems_and_conditions)
@click.argument("condition", type=WordChoice(CONDITIONS))
@selecting
@reason_option
@click.option("--ticket", metavar="URL", help="The ticket about it, shown until the systems are Automated.")
@click.option("--no-ticket", is_flag=True, help="Remove the ticket.")
@_wait
@wide
@remote
def condition(
    client: Client,
    output: Output,
    fqdns: tuple[str, ...],
    condition: str,
    reason: str | None,
    ticket: str | None,
    no_ticket: bool,
    wait: bool,
    dry_run: bool,
    **selection: Any,
) -> None:
    """Set the condition of systems to Automated, Manual, Broken or Removed.

    Broken and Removed abort a recipe that has started on a system. A recipe that has not started returns to
    the queue, unless it forces the system and the system becomes Broken. With the condition that the systems
    have, --ticket and --no-ticket change the ticket alone.
    """
    require_exclusive({"--ticket": ticket, "--no-ticket": no_ticket})
    if wait and condition not in ENDING:
        raise click.UsageError(f"--wait requires one of {', '.join(ENDING)}.")
    body: dict[str, Any] = {"condition": condition, "reason": reason or ""}
    if ticket is not None or no_ticket:
        body["ticket"] = ticket
    words = (f"is now {condition}", f"was already {condition}")
    _change(
        client, output, fqdns, selection, body, words, dry_run, {"condition": condition} if wait else None
    )


def _change(
    client: Client,
    output: Output,
    fqdns: Sequence[str],
    selection: Mapping[str, Any],
    body: Mapping[str, Any],
    words: tuple[str, str],
    dry_run: bool,
    awaited: Mapping[str, Any] | None = None,
) -> None:
    """Change one system by its own resource, and several in one request; `awaited` filters those to await."""
    is_one = len(fqdns) == 1 and not dry_run and not any(selection.values())
    named = NamedSystems({fqdn: fqdn for fqdn in fqdns})
    if not is_one:
        named = selected_systems(client, fqdns, **selection)
    systems = named.names
    if is_one:
        with similar_name_added(client, "system", fqdns[0]):
            answer = client.patch(SYSTEM.of(client, fqdns[0]), body)
        output.line(answer, f"{fqdns[0]} {words[0] if answer.get('changed', True) else words[1]}")
    elif systems:
        with named.located(client):
            answer = client.post(PATH, {**body, "systems": systems}, dry_run=dry_run or None)
        _show(output, answer, words)
    else:
        output.line({"dry_run": dry_run, "systems": []}, "no system is selected")
    if awaited is not None and not dry_run and systems:
        _await_end(client, systems, awaited, note if not output.as_json else lambda text: None)


def _show(output: Output, answer: dict[str, Any], words: tuple[str, str]) -> None:
    """Print the answers. Exit with status 1 if some partition was not changed."""
    failed = [row for row in answer["systems"] if "changed" not in row]
    if output.as_json:
        output.document(answer)
    else:
        rows = [{**row, "outcome": _outcome(row, words, answer["dry_run"])} for row in answer["systems"]]
        output.table(COLUMNS, rows)
        changed_count = sum(bool(row.get("changed")) for row in rows)
        kept_count = len(rows) - changed_count - len(failed)
        failures = f", {len(failed)} failed" if failed else ""
        done = "would change" if answer["dry_run"] else "changed"
        click.echo(f"{changed_count} {done}, {kept_count} unchanged{failures}")
        if answer["dry_run"]:
            note("dry run: nothing was changed")
    if failed:
        raise click.exceptions.Exit(1)


def _outcome(row: Mapping[str, Any], words: tuple[str, str], dry_run: bool) -> str:
    if "changed" not in row:
        return f"not changed: {row['detail']}"
    if not row["changed"]:
        return words[1]
    return "would change" if dry_run else words[0]


def _await_end(
    client: Client, systems: Sequence[str], filters: Mapping[str, Any], on_wait: Callable[[str], None]
) -> None:
    """Wait until the systems that still pass the filters are idle; pending ones until they no longer are."""
    wanted, before = frozenset(systems), -1
    while True:
        rows = client.pages("/systems", "systems", min_position=client.position, **filters)["systems"]
        busy = [row["fqdn"] for row in rows if row["fqdn"] in wanted and row["usage"] != "idle"]
        if not busy:
            return
        if len(busy) != before:
            use = filters.get("usage", "in use")
            on_wait(f"waiting for {len(busy)} {use}: {listed(busy)}")
            before = len(busy)
        time.sleep(WAIT_SECONDS)
