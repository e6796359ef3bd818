"""`labledger cancel`, `cancel-set`, `set-job`, `set-priority`, `return`: changes to submitted jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.numbered import JOB_ID, RECIPE_ID, SET_ID
from cli.arguments.params import WordChoice, Words, assigned, assignments_argument, reason_option
from cli.lists import completing
from cli.remote import remote
from cli.terminal.output import Output, note
from domain.priority import Priority

if TYPE_CHECKING:
    from api.client import Client

IN_JSON = ("distro", "tasks", "locks")
"""The properties of a recipe that are no texts."""

PRIORITIES = tuple(priority.name for priority in Priority)
cancel_reason_option = click.option(
    "--reason",
    type=Words(),
    default="cancelled on the command line",
    show_default=True,
    help="Reason, which is recorded on the log and shown with the recipes.",
)


@click.command
@click.argument("job_id", metavar="JOB", type=JOB_ID, shell_complete=completing.jobs)
@cancel_reason_option
@remote
def cancel(client: Client, output: Output, job_id: int, reason: str) -> None:
    """Cancel all unfinished recipes of a job."""
    _cancel(client, output, f"/jobs/{job_id}", f"job {job_id}", reason)


@click.command("cancel-set")
@click.argument("recipe_set_id", metavar="SET", type=SET_ID, shell_complete=completing.unplaced_sets)
@cancel_reason_option
@remote
def cancel_set(client: Client, output: Output, recipe_set_id: int, reason: str) -> None:
    """Cancel all unfinished recipes of one recipe set."""
    _cancel(client, output, f"/recipe-sets/{recipe_set_id}", f"recipe set {recipe_set_id}", reason)


def _cancel(client: Client, output: Output, path: str, target: str, reason: str) -> None:
    answer = client.post(f"{path}/cancel", {"reason": reason})
    outcome = "cancelled" if answer.get("cancelled", True) else "had already finished: nothing to cancel"
    output.line(answer, f"{target} {outcome}")


@click.command("set-job")
@click.argument("job_id", metavar="JOB", type=JOB_ID, shell_complete=completing.jobs)
@assignments_argument
@remote
def set_job(client: Client, output: Output, job_id: int, changes: tuple[str, ...]) -> None:
    """Change properties of JOB: whiteboard='nightly, again' retention_tag=60days product=null.

    VALUE is JSON, or text if it is not valid JSON. A null `product` removes the product.
    """
    answer = client.patch(f"/jobs/{job_id}", assigned(changes))
    output.line(answer, f"job {job_id} {'changed' if answer.get('changed', True) else 'unchanged'}")


@click.command("set-recipe")
@click.argument("recipe_id", metavar="RECIPE", type=RECIPE_ID)
@assignments_argument
@remote
def set_recipe(client: Client, output: Output, recipe_id: int, changes: tuple[str, ...]) -> None:
    """Change RECIPE before its set has started: tasks='[{"name": "/smoke"}]' locks=null.

    The properties are host_requires, distro_requires, distro, tasks and locks, each as in a job in JSON, and
    host_requires_xml and distro_requires_xml as XML. A null `locks` removes the locks. A recipe whose system
    does not fit any more loses it.
    """
    values = assigned(changes)
    texts = [f"{name}: is not valid JSON" for name in IN_JSON if isinstance(values.get(name), str)]
    if texts:
        raise click.UsageError("; ".join(texts))
    answer = client.patch(f"/recipes/{recipe_id}", values)
    for warning in answer.get("warnings") or ():
        note(f"{warning['where']}: {warning['message']}")
    output.line(answer, f"recipe {recipe_id} {'changed' if answer.get('changed', True) else 'unchanged'}")


@click.command("set-priority")
@click.argument("recipe_set_id", metavar="SET", type=SET_ID, shell_complete=completing.unplaced_sets)
@click.argument("priority", type=WordChoice(PRIORITIES))
@remote
def set_priority(client: Client, output: Output, recipe_set_id: int, priority: str) -> None:
    """Change the priority of a recipe set that has not started."""
    answer = client.patch(f"/recipe-sets/{recipe_set_id}", {"priority": priority})
    outcome = "is now" if answer.get("changed", True) else "was already"
    output.line(answer, f"recipe set {recipe_set_id} {outcome} {priority}")


@click.command("return")
@click.argument("recipe_id", metavar="RECIPE", type=RECIPE_ID)
@reason_option
@remote
def give_back(client: Client, output: Output, recipe_id: int, reason: str | None) -> None:
    """Return the system that a reserved RECIPE keeps, as its job requested (`reservesys`)."""
    answer = client.post(f"/recipes/{recipe_id}/return", reason=reason)
    outcome = "returned its system" if answer.get("returned", True) else "had already finished"
    output.line(answer, f"recipe {recipe_id} {outcome}")
