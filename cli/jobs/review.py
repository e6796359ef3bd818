"""`labledger review`, `waive`: what people think of the results of recipe sets that have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.numbered import KINDS, SET_ID, TASK_ID, read_id
from cli.arguments.params import WordChoice, required_reason_option
from cli.remote import remote
from cli.terminal.output import Output
from domain.recipe_set.review import REVIEWS

if TYPE_CHECKING:
    from api.client import Client


@click.command
@click.argument("recipe_set_id", metavar="SET", type=SET_ID)
@click.argument("verdict", metavar="REVIEW", type=WordChoice(REVIEWS))
@required_reason_option
@remote
def review(client: Client, output: Output, recipe_set_id: int, verdict: str, reason: str) -> None:
    """Review the results of a recipe set that has ended: acknowledged, rejected, or none.

    SET is a number, or as in Beaker RS:3. The review says what you think of the set as a whole; `none`
    revokes it. No result changes.
    """
    answer = client.post(f"/recipe-sets/{recipe_set_id}/review", {"review": verdict, "reason": reason})
    outcome = "is now" if answer.get("changed", True) else "was already"
    shown = "without a review" if verdict == "none" else verdict
    output.line(answer, f"recipe set {recipe_set_id} {outcome} {shown}")


@click.command
@click.argument("wanted", metavar="SET|RECIPE")
@click.argument("task_id", metavar="[TASK]", type=TASK_ID, required=False)
@required_reason_option
@click.option("--revoke", is_flag=True, help="Revoke the waiver: the failure counts again.")
@remote
def waive(
    client: Client, output: Output, wanted: str, task_id: int | None, reason: str, revoke: bool
) -> None:
    """Waive the failure of a task, or all failures of a recipe set that has ended.

    A task is named with its recipe, such as R:30 T:7, a recipe set alone, such as RS:3. A waived failure is
    accepted and counted apart; its result stays as it was reported.
    """
    kind, number = read_id(wanted, "RS" if task_id is None else "R", None, click.get_current_context())
    if kind != KINDS["RS" if task_id is None else "R"]:
        raise click.UsageError("needs a recipe set such as RS:3, or a recipe and its task such as R:30 T:7")
    path = f"/recipe-sets/{number}" if task_id is None else f"/recipes/{number}/tasks/{task_id}"
    what = f"{kind} {number}" if task_id is None else f"task {task_id} of recipe {number}"
    answer = client.post(f"{path}/waiver", {"waived": not revoke, "reason": reason})
    outcome = "is now" if answer.get("changed", True) else "was already"
    output.line(answer, f"{what} {outcome} {'not waived' if revoke else 'waived'}")
