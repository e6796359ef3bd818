"""`labledger recipe`: one recipe, the history of its states, and its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, read_as_of
from cli.arguments.locks import locks_text
from cli.arguments.numbered import RECIPE_ID
from cli.jobs.job_view import failed_lines
from cli.jobs.result_rows import with_waivers
from cli.lists import completing
from cli.lists.placement import shown_partition
from cli.remote import remote, wide
from cli.terminal.output import Output, note
from cli.terminal.tables import Column, Row
from cli.terminal.wording import WAITS_FOR_LOCKS, clock, elapsed, plain, reason_note, reason_of, zone
from domain.recipe.lifecycle import FINISHED

if TYPE_CHECKING:
    from api.client import Client

FACTS = (
    *("job_id", "recipe_set_id", "priority", "owner", "group", "partition", "queue", "whiteboard"),
    *("distro_tree", "distro"),
    *(
        "host_recipe_id",
        "guests",
        "state",
        "attempt",
        "note",
        "result",
        "system",
        "lab_controller",
        "deadline",
    ),
    "claim",
    *("declared_locks", "held_locks"),
)


def _interval_length(interval: Row) -> str:
    if interval["state"] in FINISHED:
        return ""
    return elapsed(interval.get("since"), interval.get("until") or interval.get("as_of"))


HISTORY_COLUMNS = (
    Column("state", "state", "state", 0),
    Column(f"since ({zone()})", lambda row: clock(row.get("since"))),
    Column("for", _interval_length, "number"),
    Column("position", "since_position", "number", 3),
    Column("system", "system", rank=2),
    Column("reason", reason_of, "text"),
)

TASK_COLUMNS = (
    Column("task", "task_id", "number", 0),
    Column("name", "name", "text", 0),
    Column("state", "state", "state", 0),
    Column("result", "result", "state", 0),
)


@click.command
@click.argument("recipe_id", metavar="RECIPE", type=RECIPE_ID, shell_complete=completing.unplaced_recipes)
@as_of
@wide
@remote
def recipe(client: Client, output: Output, recipe_id: int, as_of: str | None) -> None:
    """Show a recipe, the history of its states, and its tasks."""
    document = read_as_of(client, output, f"/recipes/{recipe_id}", "recipe", recipe_id, as_of)
    if output.as_json:
        output.document(document)
    else:
        _show(output, document)


def _fact_text(fact: str, value: Any) -> str:
    if fact == "claim":
        forced = " by force" if value["forced"] else ""
        return plain(f"{value['system']}{forced}, since {clock(value['since'])} {zone()}")
    if fact == "distro_tree":
        parts = (value["name"], value.get("variant"), value["arch"], f"({value['id']})")
        return plain(" ".join(filter(None, parts)))
    return f"{clock(value)} {zone()}" if fact == "deadline" else plain(value)


def _lock_facts(recipe: Row) -> dict[str, str]:
    """Return the locks of a recipe as text, and a note while its set waits for them."""
    locks = recipe.get("locks") or {}
    texts = {name: locks_text(locks[name]) for name in ("declared", "held") if locks.get(name)}
    waits = {"note": WAITS_FOR_LOCKS} if recipe.get("awaits_locks") else {}
    return {**waits, **{f"{name}_locks": text for name, text in texts.items()}}


def _show(output: Output, recipe: Row) -> None:
    click.echo(f"recipe {recipe['recipe_id']}")
    # Most recipes have one attempt.
    attempt = recipe["attempt"] if recipe.get("attempt", 1) > 1 else None
    facts = {**recipe, "attempt": attempt, "partition": shown_partition(recipe), **_lock_facts(recipe)}
    for fact in FACTS:
        if facts.get(fact) not in (None, [], ""):
            click.echo(f"  {fact.removesuffix('_id').replace('_', ' ')}: {_fact_text(fact, facts[fact])}")
    task_columns = with_waivers(TASK_COLUMNS, recipe.get("tasks") or ())
    for columns, name in ((HISTORY_COLUMNS, "history"), (task_columns, "tasks")):
        if recipe.get(name):
            click.echo()
            output.table(columns, [{**row, "as_of": recipe.get("as_of")} for row in recipe[name]])
    if failed := list(failed_lines(recipe)):
        click.echo()
        for line in failed:
            click.echo(line)
    if found := reason_note([recipe]):
        note(found)
