"""`labledger watch`: a live view of a job until it is finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.numbered import JOB_ID
from cli.failures import INTERRUPTED
from cli.jobs.job_view import JobView
from cli.lists import completing
from cli.remote import remote
from cli.terminal.output import Output, console, note, show
from cli.terminal.tables import Row
from cli.terminal.wording import plain, reason_note, reason_of
from domain.recipe.lifecycle import RECIPE

# The states of a job and of its sets follow from its recipes, so these topics cover all changes.
TOPICS = (
    *(f"recipe.{state}" for state in RECIPE.states),
    *("recipe.task-started", "recipe.task-result", "recipe.task-completed", "recipe.task-aborted"),
    *("job.extended", "job.closed", "recipe.changed"),
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.client import Client


@click.command
@click.argument("job_id", metavar="JOB", type=JOB_ID, shell_complete=completing.jobs)
@remote
def watch(client: Client, output: Output, job_id: int) -> None:
    """Follow a job until it is finished. With --json, print a line for every change.

    Exit status 0 if every recipe completed with a result other than Warn, Fail and Panic, or its failures are
    waived; 1 otherwise.
    Ctrl-C ends this command with status 130; the job continues.
    """
    if not follow(client, output, job_id):
        raise click.exceptions.Exit(1)


def follow(client: Client, output: Output, job_id: int) -> bool:
    """Show a job until it is finished, across restarts of the server. Return whether the job passed."""
    from api.client.retry_policy import PERSISTENT

    view = JobView(client, job_id)
    view.read(client.position)
    try:
        with client.another(policy=PERSISTENT) as view.client:
            _show(view, output)
    except KeyboardInterrupt:
        note(f"\njob {job_id} continues; run `labledger watch {job_id}` to follow it again")
        raise click.exceptions.Exit(INTERRUPTED) from None
    return view.has_passed()


def _show(view: JobView, output: Output) -> None:
    if not output.as_json:
        _on_screen(view)
        return
    for _ in changes(view):
        output.document(view.job)


def _on_screen(view: JobView) -> None:
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    def with_notes() -> Group:
        found = reason_note(view.recipe_rows())
        failed = [Text(line, style="red") for line in view.failed_results()]
        return Group(view.table(), *failed, *([Text(found, style="dim")] if found else []))

    screen = console()
    if not screen.is_terminal:
        # A file or a pipe gets a line for each change of a state, and the table at the end.
        last_line = ""
        for _ in changes(view):
            states = ", ".join(map(_state, view.recipe_rows())) or "no recipes"
            line = f"job {view.job_id} {view.job['state']}: {states}"
            if line != last_line:
                screen.print(line, markup=False, soft_wrap=True)
            last_line = line
        show(screen, view.table())
        for line in view.failed_results():
            screen.print(line, markup=False, soft_wrap=True)
        return
    with Live(console=screen, get_renderable=with_notes, refresh_per_second=2):
        for _ in changes(view):
            pass


def _state(row: Row) -> str:
    """Return the state of a recipe, and the reason why it waits."""
    reason = reason_of(row) if row["state"] == "queued" or row.get("awaits_locks") else ""
    return f"recipe {row['recipe_id']} {row['state']}{f' ({plain(reason)})' if reason else ''}"


def changes(view: JobView) -> Iterator[None]:
    """Yield at once, then after every change of the job, and return when the job is finished."""
    yield
    if view.is_finished():
        return
    for event in view.client.events(after=view.job["position"], types=list(TOPICS)):
        document = event.document()
        # The last read of the job includes all events up to its position.
        if document.get("subject") not in view.subjects or document["position"] <= view.job["position"]:
            continue
        if view.read(document["position"]):
            yield
        if view.is_finished():
            return
