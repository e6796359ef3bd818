"""`labledger job`: one job, its recipes, and the submitted document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.arguments.as_of import absence_explained, as_of, note_moment
from cli.arguments.numbered import JOB_ID
from cli.jobs.job_view import RECIPE_COLUMNS, JobView
from cli.jobs.result_rows import deletion_text
from cli.jobs.review_lines import review_lines
from cli.lists import completing
from cli.lists.placement import shown_partition
from cli.remote import remote, wide
from cli.terminal.output import Output, content, note, xml
from cli.terminal.tables import Row
from cli.terminal.wording import clock, plain, reason_note, zone

if TYPE_CHECKING:
    from api.client import Client

FACTS = (
    *("owner", "submitter", "group", "partition", "queue", "key", "whiteboard"),
    *("state", "stage", "result", "open", "origin", "copies"),
)


@click.command
@click.argument("job_id", metavar="JOB", type=JOB_ID, shell_complete=completing.jobs)
@click.option(
    "--xml", "as_xml", is_flag=True, help="Print the job as normalised XML, which can be submitted again."
)
@click.option("--original", is_flag=True, help="Print the submitted document, byte for byte.")
@as_of
@wide
@remote
def job(client: Client, output: Output, job_id: int, as_xml: bool, original: bool, as_of: str | None) -> None:
    """Show a job and the states of its recipes."""
    view = JobView(client, job_id, as_of)
    with absence_explained(client, as_of, "job", job_id):
        if as_xml:
            xml(client.get_text(f"/jobs/{job_id}", "application/xml", as_of=as_of))
            return
        if original:
            content(client.get_bytes(f"/jobs/{job_id}/original", as_of=as_of))
            return
        view.read()
    note_moment(client, output, as_of, view.job)
    if output.as_json:
        output.document(view.job)
        return
    _print_facts(view.job)
    click.echo()
    rows = view.recipe_rows()
    output.table(RECIPE_COLUMNS, [{**row, "as_of": view.job.get("as_of")} for row in rows])
    if found := reason_note(rows):
        note(found)


def _print_facts(job: Row) -> None:
    click.echo(f"job {job['job_id']}")
    takes_sets = f"yes, it takes more recipe sets (labledger close-job {job['job_id']})"
    is_open = takes_sets if job.get("open") else None
    key = (job.get("document") or {}).get("key")
    owner = job.get("owner")
    if removed_at := job.get("owner_removed_at"):
        owner = f"an earlier user {owner}, removed {clock(removed_at)} {zone()}"
    facts = {**job, "owner": owner, "partition": shown_partition(job), "key": key, "open": is_open}
    for fact in FACTS:
        if facts.get(fact) not in (None, "", []):
            click.echo(f"  {fact}: {plain(facts[fact])}")
    if kept := job.get("kept"):
        click.echo(plain(f"  kept by {kept['by']}, {clock(kept['at'])} {zone()}: {kept['reason']}"))
    if deleted := deletion_text(job):
        click.echo(f"  results and logs: {deleted}")
    for recipe_set in job["recipe_sets"]:
        for line in review_lines(recipe_set):
            click.echo(f"  recipe set {recipe_set['recipe_set_id']}: {line}")
