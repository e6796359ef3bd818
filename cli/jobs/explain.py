"""`labledger explain`: the reasons why a recipe waits, or why it got its system."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, read_as_of
from cli.arguments.locks import locks_text
from cli.arguments.numbered import RECIPE_ID
from cli.arguments.params import limit_option
from cli.jobs.recipe_set import HELD_BACK
from cli.lists import completing
from cli.remote import remote, wide
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from cli.terminal.wording import clock, reason_of, weight, zone
from domain.errors import listed
from domain.priority import Priority
from domain.scheduling.supply.reasons import shown_reason

if TYPE_CHECKING:
    from api.client import Client

# Fits on a screen.
DEFAULT_LIMIT = 20
AHEAD = "recipes ahead"


def _all_reasons(system: Row) -> str:
    reasons, holder = [shown_reason(reason) for reason in system["reasons"]], system["holder"]
    if holder is not None:
        name = f"recipe {holder['recipe_id']}" if holder["recipe_id"] else holder["user"]
        if not any(f" {name} " in f"{reason} " for reason in reasons):
            reasons.append(f"{holder['usage']} with {name}")
    return ", ".join(reasons)


def _since(system: Row) -> str:
    return clock(system["holder"]["since"]) if system["holder"] is not None else ""


def _until(system: Row) -> str:
    """Return the time at which the holder loses the system, and the cause; empty without such a time."""
    holder = system["holder"]
    return f"{clock(holder['until'])}, {holder['until_by']}" if holder and holder.get("until") else ""


def _priority_change(row: Row) -> str:
    """Return the last change of a priority, with its actor and event; empty without a change."""
    change = row.get("priority_change")
    if change is None:
        return ""
    verb = "raised" if Priority[change["became"]] > Priority[change["was"]] else "lowered"
    text = f"{verb} from {change['was']} to {change['became']} by {change['actor']}"
    return f"{text} at {clock(change['at'])} (event {change['position']})"


def _reason(row: Row) -> str:
    changed = _priority_change(row)
    reason = shown_reason(row.get("by") or row["why"])
    return f"{reason}, {changed}" if changed else reason


def _ahead(system: Row) -> str:
    """Return the recipes ahead, grouped by reason, and the number of recipes ahead that are not listed."""
    groups = groupby(system["ahead"], key=_reason)
    texts = [f"{', '.join(str(row['recipe_id']) for row in rows)}: {reason}" for reason, rows in groups]
    more = (system["before"] or 0) - len(system["ahead"])
    return "; ".join([*texts, *([f"{more} more"] if more > 0 else [])])


RULES = (
    Column("rule", "name", "name", 0),
    Column("pass", "passes", "number", 1),
    Column("remaining", "left", "number", 0),
    Column("excluded because", reason_of, "text", 2),
)
SYSTEMS = (
    Column("system", "fqdn", "name", 0),
    Column("verdict", "verdict", "state", 0),
    Column("why", _all_reasons, "text", 0),
    Column("ahead", "before", "number", 0),
    Column("effective priority", "effective_priority", "name", 2),
    Column(f"since ({zone()})", _since, rank=3),
    Column("until", _until, rank=3),
    Column(AHEAD, _ahead, "text", 1),
    Column("lab", "lab_controller", "name", 4),
)
RIVALS = (
    Column("recipe", "recipe_id", "number", 0),
    Column("effective priority", "effective_priority", "name", 1),
    Column("priority", "priority", "name", 2),
    Column("weight", weight, "number", 2),
    Column("why", _reason, "text", 0),
)
BLOCKERS = (
    Column("set", "recipe_set_id", "number", 0),
    Column("job", "job_id", "number", 1),
    Column("why", "why", "text", 0),
    Column(f"since ({zone()})", lambda row: clock(row["since"]), rank=2),
)
CHOICES = (
    Column("system", "fqdn", "name", 0),
    Column("autopick pool", "pool", "name", 1),
    Column("of job owner", "own", "name", 1),
    Column("eligible recipes", "takers", "number", 1),
)


@click.command
@click.argument("recipe_id", metavar="RECIPE", type=RECIPE_ID, shell_complete=completing.unplaced_recipes)
@click.option(
    "--system",
    metavar="FQDN",
    shell_complete=completing.systems,
    help="Explain only this system, even if it could never run the recipe.",
)
@limit_option(DEFAULT_LIMIT, "Maximum number of systems to show.", maximum=1000)
@as_of
@wide
@remote
def explain(
    client: Client, output: Output, recipe_id: int, system: str | None, limit: int, as_of: str | None
) -> None:
    """Explain why RECIPE waits: the rules, each system that could run it, and the recipes ahead of it there.

    If a dependency, a job filter or a limit holds the recipe set back, that is shown first. It gets no
    system meanwhile.

    A rule shows the number of systems that pass it alone, and that remain after it and the rules above it.

    \b
    The verdict on a system is one of:
      not now      it could run the recipe, but is in use, not usable or on loan,
                   or the recipe set is held back
      passed over  it is free, but with this grant recipe sets could deadlock
      not allowed  the owner and the group of the job may not submit there
      never        it does not match (only with --system)

    If all recipes of its set have systems, and the set waits for resource locks, show the sets in its way.

    If RECIPE has a system, explain why it got that one. `eligible recipes` is then the number of recipes
    without a system that could use the system.
    """
    path = f"/recipes/{recipe_id}/explanation"
    explanation = read_as_of(client, output, path, "recipe", recipe_id, as_of, system=system, limit=limit)
    if output.as_json:
        output.document(explanation)
        return
    _show_state(recipe_id, explanation)
    if explanation.get("locking"):
        _show_locking(output, explanation["locking"])
    if explanation["waiting"]:
        _show_waiting(output, explanation["waiting"])
    elif explanation["granted"]:
        _show_granted(output, explanation["granted"])


def _show_state(recipe_id: int, explanation: dict[str, Any]) -> None:
    if explanation["granted"] and not explanation.get("locking"):
        click.echo(f"recipe {recipe_id} is {explanation['state']}")
    else:
        click.echo(f"recipe {recipe_id} is {explanation['state']}: {shown_reason(explanation['summary'])}")
    if explanation["host_recipe_id"]:
        host = explanation["host_recipe_id"]
        click.echo(f"recipe {recipe_id} is a guest, and gets the system of recipe {host}")
    if changed := _priority_change(explanation):
        click.echo(f"the priority was {changed}")
    weighed = explanation["waiting"] or explanation["granted"] or {}
    if shown := weight(weighed):
        click.echo(f"its weight {'is' if explanation['waiting'] else 'was'} {shown}")


def _show_waiting(output: Output, waiting: dict[str, Any]) -> None:
    overtaken = waiting.get("overtaken") or {}
    if overtaken.get("count"):
        bound = "" if overtaken["bound"] is None else f", at most {overtaken['bound']}"
        click.echo(f"times that its set was overtaken: {overtaken['count']}{bound}")
    # Earlier versions of the service have no such fields.
    if preemption := waiting.get("preemption"):
        click.echo(preemption)
    if held_back := waiting.get("held_back"):
        click.echo()
        output.table(HELD_BACK, held_back)
    click.echo()
    output.table(RULES, waiting["rules"])
    if waiting["systems"]:
        click.echo()
        left_out = output.table(SYSTEMS, waiting["systems"])
        count, total = len(waiting["systems"]), waiting["systems_count"]
        if count < total:
            click.echo(f"Showing the first {count} of {total}; use --limit N for more.")
        if AHEAD in left_out:
            _show_ahead(waiting["systems"])


def _show_ahead(systems: list[dict[str, Any]]) -> None:
    """Print the reasons why recipes are ahead, on any of the systems, for which the table has no room."""
    by_reason: dict[str, dict[str, None]] = {}
    for row in (row for system in systems for row in system["ahead"]):
        by_reason.setdefault(_reason(row), {})[str(row["recipe_id"])] = None
    click.echo(f"\n{AHEAD}")
    for reason, numbers in by_reason.items():
        click.echo(f"  {listed([*numbers])}: {reason}")
    if any((system["before"] or 0) > len(system["ahead"]) for system in systems):
        click.echo("  and more, which are not listed")


def _show_locking(output: Output, locking: dict[str, Any]) -> None:
    click.echo(f"its set wants {locks_text(locking['locks'])} since {clock(locking['since'])}")
    overtaken = f"it was overtaken {locking['overtaken']} of at most {locking['max_overtaken']} times"
    click.echo(f"{overtaken}, and is owed its locks" if locking["owed"] else overtaken)
    if locking["waits_for"]:
        click.echo()
        output.table(BLOCKERS, locking["waits_for"], title="recipe sets in its way")
        count, total = len(locking["waits_for"]), locking["waits_for_count"]
        if count < total:
            click.echo(f"Showing the first {count} of {total}.")
        click.echo()


def _show_granted(output: Output, granted: dict[str, Any]) -> None:
    click.echo(f"it got {granted['system']} at position {granted['position']}, cause {granted['cause']}:")
    click.echo(granted["summary"])
    for title, columns, name in (
        ("recipes ahead of it that were passed over", RIVALS, "passed_over"),
        ("next recipes after it", RIVALS, "behind"),
        ("idle systems that it could use, in the order of preference", CHOICES, "choices"),
    ):
        if granted[name]:
            click.echo()
            output.table(columns, granted[name], title=title)
            count, total = len(granted[name]), granted.get(f"{name}_count", 0)
            if count < total:
                click.echo(f"Showing the first {count} of {total}.")
