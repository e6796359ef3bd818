"""`labledger add-sets` and `labledger close-job`: the recipe sets of open jobs."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

import click

from cli.arguments.numbered import JOB_ID
from cli.arguments.params import reason_option
from cli.jobs.file_answers import numbered, post
from cli.jobs.job_files import STDIN, content_type
from cli.lists import completing
from cli.remote import remote
from cli.terminal.output import Output

if TYPE_CHECKING:
    from api.client import Client


@click.command("add-sets")
@click.argument("job_id", metavar="JOB", type=JOB_ID, shell_complete=completing.jobs)
@click.argument("file", type=click.File("rb", lazy=False))
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@remote
def add_sets(client: Client, output: Output, job_id: int, file: IO[bytes], strict: bool) -> None:
    """Add the recipe sets in FILE to the open JOB; - is standard input.

    FILE is a job with nothing but recipe sets, as XML or JSON. A set with a key that the job has is changed
    instead, until it has started. With --json, print the answer.
    """
    name, content = getattr(file, "name", STDIN), file.read()
    path, kind = f"/jobs/{job_id}/recipe-sets", content_type(name, content)
    answer = post(client, output, path, name, content, kind, strict=strict)
    if answer is None:
        raise click.exceptions.Exit(1)
    sets = numbered("recipe set", answer["recipe_set_ids"])
    output.line(answer, f"job {job_id} has {sets}: {numbered('recipe', answer['recipe_ids'])}")


@click.command("close-job")
@click.argument("job_id", metavar="JOB", type=JOB_ID, shell_complete=completing.jobs)
@reason_option
@remote
def close_job(client: Client, output: Output, job_id: int, reason: str | None) -> None:
    """Close an open JOB: it takes no more recipe sets, and is over once its recipes have ended."""
    answer = client.post(f"/jobs/{job_id}/close", reason=reason)
    output.line(answer, f"job {job_id} {'closed' if answer.get('closed', True) else 'was not open'}")
