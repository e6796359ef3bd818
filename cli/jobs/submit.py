"""`labledger submit`: submission of jobs from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.arguments.declarations import DeclarationOptions, declaration_options
from cli.jobs.file_answers import REPLACING, accepted_answer, submitted_text
from cli.jobs.job_files import JSON, STDIN, JobFile, batches, content_type, post_batch, submit_together
from cli.lists.placement import placement_options
from cli.remote import remote
from cli.terminal.output import Output

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import IO

    from api.client import Client, ServerProblem

    Answered = tuple[JobFile, dict[str, Any] | ServerProblem]

# Word in the location of a declaration, in XML and JSON -> its option, in the order of DeclarationOptions.
ADDING = {"locks": "--lock", "depends": "--depends-on", "reason": "--reason"}


@click.command
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.File("rb", lazy=False))
@click.option("--wait", is_flag=True, help="Follow every submitted job until it is finished.")
@click.option(
    "--strict",
    is_flag=True,
    help="Treat warnings as errors, except that a job is in another queue than it names.",
)
@click.option(
    "--together",
    is_flag=True,
    help="Submit the jobs of all FILEs (100 at most) in one commit, or none of them.",
)
@declaration_options
@placement_options
@remote
def submit(
    client: Client,
    output: Output,
    files: tuple[IO[bytes], ...],
    wait: bool,
    strict: bool,
    together: bool,
    **declared: Any,
) -> None:
    """Submit the jobs in FILEs, XML or JSON; - is standard input. With --json, print a line for each job.

    Warnings name parts of a job that have no effect, and names that are unknown in the lab.
    Without --together, a refused file does not stop the submission of the others. To check a job without
    submitting it, run `labledger matches`.

    --lock, --depends-on and --reason add to what the files say: locks to every recipe, dependencies and
    reasons to every job. --queue and --partition replace what the files say.

    Exit status 0 if all files are accepted and, with --wait, every recipe completed with a result other than
    Warn, Fail and Panic; 1 otherwise. Ctrl-C ends --wait with status 130; the jobs continue.
    """
    added = DeclarationOptions(**declared)
    job_files = [_read(file, added) for file in files]
    if together and len(job_files) > 1:
        for file in job_files:
            if file.needs_own_request:
                reason = "is not UTF-8" if file.text is None else "may have a list of jobs"
                raise click.UsageError(f"{file.name} {reason}: submit it in a command of its own")
        answers: Iterable[Answered] = zip(
            job_files, submit_together(client, job_files, strict=strict), strict=True
        )
    else:
        answers = (
            answered
            for batch in batches(job_files)
            for answered in zip(batch, post_batch(client, batch, strict=strict), strict=True)
        )
    submitted = [_show(output, *answered, is_one_of_many=len(job_files) > 1) for answered in answers]
    accepted = [job for jobs in submitted for job in jobs]
    succeeded = all(submitted)
    if wait:
        from cli.jobs.watch import follow

        passed = [follow(client, output, job["job_id"]) for job in accepted]
        succeeded = succeeded and all(passed)
    if not succeeded:
        raise click.exceptions.Exit(1)


def _read(file: IO[bytes], added: DeclarationOptions) -> JobFile:
    name, content = getattr(file, "name", STDIN), file.read()
    kind = content_type(name, content)
    options = _options_alone(content, added)
    if any(added):
        from cli.jobs.additions import with_declarations

        content = with_declarations(content, kind == JSON, added)
    return JobFile(name, content, kind, options)


def _show(
    output: Output, file: JobFile, answer: dict[str, Any] | ServerProblem, *, is_one_of_many: bool
) -> list[dict[str, Any]]:
    """Print the answer for a file, and return that for each of its jobs: none if the file is refused.

    A line about a job of one of many files begins with the name of the file.
    """
    accepted = accepted_answer(output, file, answer)
    if accepted is None:
        return []
    jobs: list[dict[str, Any]] = accepted.get("jobs", [accepted])
    name = f"{file.name}: " if is_one_of_many else ""
    for job in jobs:
        output.line({"file": file.name, **job}, name + submitted_text(job))
    return jobs


def _options_alone(content: bytes, added: DeclarationOptions) -> dict[str, str]:
    """Return the options of given declarations by their words in locations.

    An option that adds to what the file says is left out if the file has its word.
    """
    words = (*ADDING.items(), *REPLACING.items())
    return {
        word: option
        for values, (word, option) in zip(added, words, strict=True)
        if values and (word in REPLACING or word.encode() not in content)
    }
