"""`labledger lab generate` and `lab submit`: a generated lab, and generated jobs for it."""

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
@click.option(
    "--labs", type=click.IntRange(1, 99), default=2, show_default=True, help="Number of lab controllers."
)
@click.option(
    "--systems",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Number of systems in all labs together.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random generator.")
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Generate N jobs for the lab, instead of the lab."
)
def generate(labs: int, systems: int, seed: int, jobs: int | None) -> None:
    """Generate a lab as JSON for `lab load`; with --jobs, jobs for that lab, one per line, for `lab submit`.

    The same options always generate the same lab and jobs.
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
    """Submit the jobs in FILE, one JSON document per line; use - for standard input.

    A refused job does not stop the submission of the others. Exit status 1 if a job is refused.
    """
    lines = [(number, line) for number, line in enumerate(file, start=1) if line.strip()]
    refused = sum(not _submit(client, output, *line) for line in advancing("submitting", lines))
    if not output.as_json:
        click.echo(f"{len(lines) - refused} jobs submitted" + (f", {refused} refused" if refused else ""))
    if refused:
        raise click.exceptions.Exit(1)


def _submit(client: Client, output: Output, number: int, line: bytes) -> bool:
    from api.client import ServerProblem
    from cli.failures import print_failure

    try:
        job: dict[str, Any] = client.post_text("/jobs", line, "application/json")
    except ServerProblem as problem:
        print_failure(problem, f"line {number}", as_json=output.as_json)
        return False
    if output.as_json:
        output.document({"line": number, **job})
    return True
