"""`labledger submit`: submission of jobs from files."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.declarations import DeclarationOptions, declaration_options
from cli.lists.placement import placement_options, placement_text
from cli.remote import remote
from cli.terminal.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import IO

    from api.client import Client

XML = "application/xml"
JSON = "application/json"
# Name in messages for a stream without a name.
STDIN = "<stdin>"
# File suffix -> media type. Without such a suffix, as for standard input, the first character decides.
BY_SUFFIX = {".xml": XML, ".json": JSON}
# Word in the location of a declaration, in XML and JSON -> its option, in the order of DeclarationOptions.
ADDING = {"locks": "--lock", "depends": "--depends-on", "reason": "--reason"}
REPLACING = {"queue": "--queue", "partition": "--partition"}


@click.command
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.File("rb", lazy=False))
@click.option("--wait", is_flag=True, help="Follow every submitted job until it is finished.")
@click.option(
    "--strict",
    is_flag=True,
    help="Treat warnings as errors, except that a job is in another queue than it names.",
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
    **declared: Any,
) -> None:
    """Submit the jobs in FILEs, XML or JSON; - is standard input. With --json, print a line for each job.

    Warnings name parts of a job that have no effect, and names that are unknown in the lab.
    A refused file does not stop the submission of the others. To check a job without submitting it, run
    `labledger matches`.

    --lock, --depends-on and --reason add to what the files say: locks to every recipe, dependencies and
    reasons to every job. --queue and --partition replace what the files say.

    Exit status 0 if all files are accepted and, with --wait, every recipe completed with a result other than
    Warn, Fail and Panic; 1 otherwise. Ctrl-C ends --wait with status 130; the jobs continue.
    """
    added = DeclarationOptions(**declared)
    submitted = [_submit(client, output, file, added, strict=strict) for file in files]
    accepted = [job for jobs in submitted for job in jobs]
    succeeded = all(submitted)
    if wait:
        from cli.jobs.watch import follow

        passed = [follow(client, output, job["job_id"]) for job in accepted]
        succeeded = succeeded and all(passed)
    if not succeeded:
        raise click.exceptions.Exit(1)


def _submit(
    client: Client, output: Output, file: IO[bytes], added: DeclarationOptions, *, strict: bool
) -> list[dict[str, Any]]:
    """Submit a file and return the answer for each job; print the failure if the file is refused."""
    name, content = getattr(file, "name", STDIN), file.read()
    kind = content_type(name, content)
    options = _options_alone(content, added)
    if any(added):
        from cli.jobs.additions import with_declarations

        content = with_declarations(content, kind == JSON, added)
    answer = post(client, output, "/jobs", name, content, kind, strict=strict, options=options)
    if answer is None:
        return []
    jobs: list[dict[str, Any]] = answer.get("jobs", [answer])
    for job in jobs:
        output.line({"file": name, **job}, submitted_text(job))
    return jobs


def submitted_text(job: Mapping[str, Any]) -> str:
    """Return the line about a submitted job: its number, queue and parts."""
    parts = f"{numbered('recipe set', job['recipe_set_ids'])}, {numbered('recipe', job['recipe_ids'])}"
    number, where = job["job_id"], placement_text(job)
    return f"job {number} submitted{where}: {parts} (labledger watch {number})"


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


def _is_about(word: str, where: str) -> bool:
    """Return whether a location is that of a declaration. A recipe has other partitions, of its disk."""
    if word in REPLACING:
        return re.search(rf"(^|: )(jobs\[\d+\]\.)?{word}$", where) is not None
    return word in where


def post(
    client: Client,
    output: Output,
    path: str,
    name: str,
    content: bytes,
    kind: str,
    *,
    strict: bool,
    options: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any] | None:
    """Post a file and print the warnings about it; print the failure and return None if it is refused.

    A location with a word of `options` is replaced by the option.
    """
    from api.client import ServerProblem
    from cli.failures import print_failure
    from domain.errors import Fault

    def located(where: str) -> str:
        return next((option for word, option in options.items() if _is_about(word, where)), where)

    try:
        answer: dict[str, Any] = client.post_text(path, content, kind, strict=strict or None)
    except ServerProblem as problem:
        problem.faults = tuple(Fault(located(fault.where), fault.message) for fault in problem.faults)
        print_failure(problem, name, as_json=output.as_json)
        return None
    warnings = [warning for job in answer.get("jobs", [answer]) for warning in job.get("warnings") or ()]
    print_warnings(output, name, [{**warning, "where": located(warning["where"])} for warning in warnings])
    return answer


def print_warnings(output: Output, name: str, warnings: Sequence[Mapping[str, str]]) -> None:
    """Print the warnings about a job, unless the answer is printed as JSON, which has them."""
    if warnings and not output.as_json:
        lines = (f"  {warning['where']}: {warning['message']}" for warning in warnings)
        click.echo("\n".join((f"{name}: warnings:", *lines)), err=True)


def numbered(noun: str, ids: list[int]) -> str:
    """Return a noun with numbers: `recipe 7`, `recipes 7, 8`, `no recipes`."""
    return f"no {noun}s" if not ids else f"{noun if len(ids) == 1 else f'{noun}s'} {', '.join(map(str, ids))}"


def content_type(name: str, content: bytes) -> str:
    """Return the media type from the suffix of a file name, otherwise from the content."""
    for suffix, media_type in BY_SUFFIX.items():
        if name.endswith(suffix):
            return media_type
    return JSON if content.lstrip()[:1] == b"{" else XML
