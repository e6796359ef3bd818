"""`labledger lab generate` and `lab submit`: a lab that nobody owns, and the jobs that keep it busy."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

import click

from cli.remote import remote
from cli.terminal.output import Output
from cli.terminal.progress import advancing

if TYPE_CHECKING:
    from api.client import Client


@click.command
@click.option("--labs", type=click.IntRange(1, 99), default=2, show_default=True, help="Lab controllers.")
@click.option("--systems", type=click.IntRange(1), default=50, show_default=True, help="Systems of all labs.")
@click.option("--seed", type=int, default=0, show_default=True, help="What everything is made from.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="N jobs that fit that lab, instead of it.")
def generate(labs: int, systems: int, seed: int, jobs: int | None) -> None:
    """Make up a lab, as JSON for `lab load`; with --jobs the jobs for it, one a line, for `lab submit`.

    The same options give the same lab and jobs.
    """
    from replay.workload.generated_jobs import generate_jobs
    from replay.workload.generated_lab import generate_lab

    lab = generate_lab(seed, labs, systems)
    if jobs is None:
        click.echo(json.dumps(lab, indent=1))
        return
    for job in generate_jobs(lab, seed, jobs):
        click.echo(json.dumps(job))


@click.command("submit")
@click.argument("file", type=click.File("rb", lazy=False))
@remote
def submit_many(client: Client, output: Output, file: IO[bytes]) -> None:
    """Submit the jobs in FILE, one JSON document a line, - for standard input.

    A job that is refused does not keep those behind it back. Exit status 1 when any was.
    """
    lines = [(number, line) for number, line in enumerate(file, start=1) if line.strip()]
    refused = sum(not _submit(client, output, *line) for line in advancing("submitting", lines))
    if not output.as_json:
        click.echo(f"{len(lines) - refused} jobs submitted" + (f", {refused} refused" if refused else ""))
    if refused:
        raise click.exceptions.Exit(1)


def _submit(client: Client, output: Output, number: int, line: bytes) -> bool:
    from api.client import Problem
    from cli.failures import tell

    try:
        job: dict[str, Any] = client.post_text("/jobs", line, "application/json")
    except Problem as problem:
        tell(problem, f"line {number}", as_json=output.as_json)
        return False
    if output.as_json:
        output.document({"line": number, **job})
    return True
