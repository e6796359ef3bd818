"""`labledger estimate`: the time left until a recipe starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import as_of, read_as_of
from cli.arguments.numbered import RECIPE_ID
from cli.lists import completing
from cli.remote import remote
from cli.terminal.output import Output
from cli.terminal.wording import duration

if TYPE_CHECKING:
    from api.client import Client


@click.command
@click.argument("recipe_id", metavar="RECIPE", type=RECIPE_ID, shell_complete=completing.unplaced_recipes)
@as_of
@remote
def estimate(client: Client, output: Output, recipe_id: int, as_of: str | None) -> None:
    """Estimate when RECIPE starts, from the waits of comparable recipes, which are shown as the basis.

    Half of such recipes start within the first time, nine of ten within the second one. A recipe that waits
    for its resource locks has not started.
    """
    path = client.path("recipes", recipe_id, "estimate")
    document = read_as_of(client, output, path, "recipe", recipe_id, as_of)
    if output.as_json:
        output.document(document)
        return
    click.echo(f"recipe {recipe_id}: {document['summary']}")
    if document["basis"] is not None:
        click.echo(f"waited so far: {duration(document['waited_seconds'])}")
        click.echo(f"basis: {document['basis']['words']}")
