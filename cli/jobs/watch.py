"""`labledger watch`: a job, live, until it is finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.params import ID
from cli.failures import INTERRUPTED
from cli.jobs.job_view import JobView
from cli.lists import completing
from cli.remote import remote
from cli.terminal.output import Output, console, note, show
from domain.recipe.lifecycle import RECIPE

# A job and its sets are what their recipes are, so these are all that can change what is shown.
TOPICS = (
    *(f"recipe.{state}" for state in RECIPE.states),
    "recipe.task-started",
    "recipe.task-result",
    "recipe.task-completed",
    "recipe.task-aborted",
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.client import Client


@click.command
@click.argument("job_id", metavar="JOB", type=ID, shell_complete=completing.jobs)
@remote
def watch(client: Client, output: Output, job_id: int) -> None:
    """Follow a job until it is finished; with --json a line for every change.

    Exit status 0 when every recipe completed and none with result Warn, Fail or Panic, else 1. Ctrl-C leaves
    the job as it is, with status 130.
    """
    if not follow(client, output, job_id):
        raise click.exceptions.Exit(1)


def follow(client: Client, output: Output, job_id: int) -> bool:
    """Show a job until it is finished, also over a restart of the server. True when it passed."""
    from api.client.patience import PERSISTENT

    view = JobView(client, job_id)
    view.read(client.position)
    try:
        with client.another(patience=PERSISTENT) as view.client:
            _show(view, output)
    except KeyboardInterrupt:
        note(f"\njob {job_id} goes on: `labledger watch {job_id}` follows it again")
        raise click.exceptions.Exit(INTERRUPTED) from None
    return view.passed()


def _show(view: JobView, output: Output) -> None:
    if not output.as_json:
        _on_screen(view)
        return
    for _ in changes(view):
        output.document(view.job)


def _on_screen(view: JobView) -> None:
    from rich.live import Live

    shown = console()
    if not shown.is_terminal:
        # Nobody looks at every step in a file: one line for each, the table in the end.
        said = ""
        for _ in changes(view):
            states = ", ".join(f"recipe {row['recipe_id']} {row['state']}" for row in view.shown())
            line = f"job {view.job_id} {view.job['state']}: {states}"
            if line != said:
                shown.print(line)
            said = line
        show(shown, view.table())
        return
    with Live(console=shown, get_renderable=view.table, refresh_per_second=2):
        for _ in changes(view):
            pass


def changes(view: JobView) -> Iterator[None]:
    """Once at first, then for every change seen, up to the one that finishes the job."""
    yield
    if view.finished():
        return
    for event in view.client.events(after=view.job["position"], types=list(TOPICS)):
        happened = event.document()
        if happened.get("subject") not in view.subjects:
            continue
        # One reading covers all events up to its position.
        if happened["position"] <= view.job["position"]:
            continue
        if view.read(happened["position"]):
            yield
        if view.finished():
            return
