"""`labledger recipe`: one recipe, how it got where it is, and its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from api.cli.as_of import as_of
from api.cli.output import Column, Output, Row, console, table
from api.cli.remote import remote
from api.cli.wording import clock, elapsed, plain
from domain.recipe.lifecycle import FINISHED

if TYPE_CHECKING:
    from api.client import Client

FACTS = (
    *("job_id", "recipe_set_id", "priority", "owner", "group", "whiteboard", "distro_tree", "distro"),
    *("host_recipe_id", "guests", "state", "result", "system", "lab_controller", "deadline"),
)


def _lasted(interval: Row) -> str:
    """Of a state that nothing leaves, none is told: it would only grow."""
    if interval["state"] in FINISHED:
        return ""
    return elapsed(interval.get("since"), interval.get("until") or interval.get("as_of"))


HISTORY_COLUMNS = (
    Column("state", "state"),
    Column("since (UTC)", lambda row: clock(row.get("since"))),
    Column("for", _lasted, right=True),
    Column("position", "since_position", right=True),
    Column("system", "system"),
    Column("reason", "reason"),
)

TASK_COLUMNS = (
    Column("task", "task_id", right=True),
    Column("name", "name"),
    Column("state", "state"),
    Column("result", "result"),
)


@click.command
@click.argument("recipe_id", metavar="RECIPE", type=click.IntRange(1))
@as_of
@remote
def recipe(client: Client, output: Output, recipe_id: int, as_of: str | None) -> None:
    """Show a recipe, the history of its states, and its tasks."""
    document = client.get(f"/recipes/{recipe_id}", as_of=as_of)
    if output.as_json:
        output.document(document)
    else:
        _show(document)


def _shown(fact: str, value: Any) -> str:
    if fact == "distro_tree":
        named = (value["name"], value.get("variant"), value["arch"], f"({value['id']})")
        return plain(" ".join(filter(None, named)))
    return f"{clock(value)} UTC" if fact == "deadline" else plain(value)


def _show(recipe: Row) -> None:
    click.echo(f"recipe {recipe['recipe_id']}")
    for fact in FACTS:
        if recipe.get(fact) not in (None, [], ""):
            click.echo(f"  {fact.removesuffix('_id').replace('_', ' ')}: {_shown(fact, recipe[fact])}")
    shown = console()
    for columns, name in ((HISTORY_COLUMNS, "history"), (TASK_COLUMNS, "tasks")):
        if recipe.get(name):
            shown.print()
            shown.print(table(columns, [{**row, "as_of": recipe.get("as_of")} for row in recipe[name]]))
