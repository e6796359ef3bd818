"""The answers for files with jobs, as commands print them: acceptances, warnings and failures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from cli.jobs.job_files import JobFile
from cli.lists.placement import placement_text
from cli.terminal.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from api.client import Client, ServerProblem

# Word in the location of a declaration that replaces what the file says -> its option.
REPLACING = {"queue": "--queue", "partition": "--partition"}


def post(
    client: Client, output: Output, path: str, name: str, content: bytes, kind: str, *, strict: bool
) -> dict[str, Any] | None:
    """Post a file; print the warnings about it, or print the failure and return None if it is refused."""
    from api.client import ServerProblem

    file = JobFile(name, content, kind, {})
    try:
        answer: dict[str, Any] = client.post_text(path, content, kind, strict=strict or None)
    except ServerProblem as problem:
        return accepted_answer(output, file, problem)
    return accepted_answer(output, file, answer)


def accepted_answer(
    output: Output, file: JobFile, answer: dict[str, Any] | ServerProblem
) -> dict[str, Any] | None:
    """Return the answer for a file; print the warnings in it. None for a failure, which is printed.

    A location with a word of the file's options is replaced by the option.
    """
    from api.client import ServerProblem
    from cli.failures import print_failure
    from domain.errors import Fault

    def located(where: str) -> str:
        return next((option for word, option in file.options.items() if _is_about(word, where)), where)

    if isinstance(answer, ServerProblem):
        answer.faults = tuple(Fault(located(fault.where), fault.message) for fault in answer.faults)
        print_failure(answer, file.name, as_json=output.as_json)
        return None
    warnings = [warning for job in answer.get("jobs", [answer]) for warning in job.get("warnings") or ()]
    shown = [{**warning, "where": located(warning["where"])} for warning in warnings]
    print_warnings(output, file.name, shown)
    return answer


def _is_about(word: str, where: str) -> bool:
    """Return whether a location is that of a declaration. A recipe has other partitions, of its disk."""
    if word in REPLACING:
        return re.search(rf"(^|: )(jobs\[\d+\]\.)?{word}$", where) is not None
    return word in where


def print_warnings(output: Output, name: str, warnings: Sequence[Mapping[str, str]]) -> None:
    """Print the warnings about a job, unless the answer is printed as JSON, which has them."""
    if warnings and not output.as_json:
        lines = (f"  {warning['where']}: {warning['message']}" for warning in warnings)
        click.echo("\n".join((f"{name}: warnings:", *lines)), err=True)


def submitted_text(job: Mapping[str, Any]) -> str:
    """Return the line about a submitted job: its number, queue and parts."""
    parts = f"{numbered('recipe set', job['recipe_set_ids'])}, {numbered('recipe', job['recipe_ids'])}"
    number, where = job["job_id"], placement_text(job)
    return f"job {number} submitted{where}: {parts} (labledger watch {number})"


def numbered(noun: str, ids: list[int]) -> str:
    """Return a noun with numbers: `recipe 7`, `recipes 7, 8`, `no recipes`."""
    return f"no {noun}s" if not ids else f"{noun if len(ids) == 1 else f'{noun}s'} {', '.join(map(str, ids))}"
