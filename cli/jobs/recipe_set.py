"""`labledger recipe-set`: one recipe set, its recipes, resource locks, weight and admission."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import as_of, read_as_of
from cli.arguments.locks import locks_text
from cli.arguments.numbered import SET_ID
from cli.jobs.review_lines import review_lines
from cli.lists import completing
from cli.lists.placement import shown_partition
from cli.remote import remote, wide
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from cli.terminal.wording import plain, reason_of, weight

if TYPE_CHECKING:
    from api.client import Client

FACTS = ("job_id", "owner", "group", "partition", "queue", "priority", "state", "result")
RECIPES = (
    Column("recipe", "recipe_id", "number", 0),
    Column("state", "state", "state", 0),
    Column("system", "system"),
    Column("whiteboard", "whiteboard", "text", 3),
    Column("reason", reason_of, "text", 2),
)
HELD_BACK = (
    Column("held back by", "row", "name", 0),
    Column("why", "reason", "text", 0),
)
CELLS = (
    Column("level", "level", rank=0),
    Column("worst cell", lambda row: f"{row['cell']:g}", "number", 0),
    Column("because of recipe", "recipe_id", "number", 0),
)


@click.command("recipe-set")
@click.argument("recipe_set_id", metavar="SET", type=SET_ID, shell_complete=completing.unplaced_sets)
@as_of
@wide
@remote
def recipe_set(client: Client, output: Output, recipe_set_id: int, as_of: str | None) -> None:
    """Show a recipe set: its recipes, the resource locks that it declares and holds, and its weight.

    It also shows the dependencies of the set, the job filter that applies to it, the buckets of its rate
    limits, and what keeps it from its first system.

    A set that waits for systems has a weight. The table of levels shows the worst cell of each level, and the
    first placed recipe that has the contended lock.
    """
    path = f"/recipe-sets/{recipe_set_id}"
    document = read_as_of(client, output, path, "recipe set", recipe_set_id, as_of)
    if output.as_json:
        output.document(document)
    else:
        _show(output, document)


def _show(output: Output, recipe_set: Row) -> None:
    click.echo(f"recipe set {recipe_set['recipe_set_id']}")
    facts = {**recipe_set, "partition": shown_partition(recipe_set)}
    for fact in FACTS:
        if facts.get(fact) not in (None, ""):
            click.echo(f"  {fact.removesuffix('_id')}: {plain(facts[fact])}")
    for line in review_lines(recipe_set):
        click.echo(f"  review: {line}")
    if recipe_set.get("preemptible"):
        click.echo("  preemptible: yes")
    for name, locks in recipe_set["locks"].items():
        if locks:
            click.echo(f"  {name} locks: {locks_text(locks)}")
    if recipe_set["weight"] is not None:
        before = f"{recipe_set['static_weight']:g} before ageing, age {recipe_set['ticks']} ticks"
        click.echo(f"  weight: {weight(recipe_set)} ({before})")
    for name, text in _admission(recipe_set):
        click.echo(f"  {name}: {plain(text)}")
    click.echo()
    output.table(RECIPES, recipe_set["recipes"])
    if held_back := recipe_set.get("held_back"):
        click.echo()
        output.table(HELD_BACK, held_back)
    if recipe_set["cells"] and any(recipe_set["cells"].values()):
        click.echo()
        output.table(CELLS, _levels(recipe_set))


def _admission(recipe_set: Row) -> Iterator[tuple[str, str]]:
    """Yield names and texts of facts that earlier versions of the service do not have."""
    for dependency in recipe_set.get("depends_on", ()):
        kind = "job" if "job" in dependency else "recipe_set"
        states = " or ".join(dependency["states"])
        yield "depends on", f"{kind.replace('_', ' ')} {dependency[kind]}, {states}"
    if rule := recipe_set.get("job_filter"):
        yield "job filter", f"{rule['name']} ({rule['action']})"
    for bucket in recipe_set.get("buckets", ()):
        yield "bucket", f"{bucket['label']}, at most {bucket['limit']}"


def _levels(recipe_set: Row) -> list[Row]:
    recipes = recipe_set["worst_recipes"]
    return [
        {"level": level, "cell": cell, "recipe_id": recipes[level]}
        for level, cell in recipe_set["cells"].items()
    ]
