"""`labledger rerun`: a copy of a job, edited if wanted, that is submitted once more."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.exclusion import require_exclusive
from cli.arguments.numbered import JOB_ID, SET_ID
from cli.arguments.params import ParsedText
from cli.jobs.file_answers import print_warnings, submitted_text
from cli.jobs.job_files import BY_SUFFIX
from cli.lists import completing
from cli.remote import remote
from cli.terminal.output import Output, note

if TYPE_CHECKING:
    from api.client import Client

EDITORS = ("VISUAL", "EDITOR")


def _numbers(text: str) -> list[int]:
    try:
        return [SET_ID.convert(part, None, None) for part in text.split(",")]
    except click.UsageError:
        raise ValueError("must be numbers of recipe sets with commas between them, such as 7,9") from None


@click.command
@click.argument("job_id", metavar="JOB", type=JOB_ID, shell_complete=completing.jobs)
@click.option(
    "--failed",
    is_flag=True,
    help="Copy only the recipe sets with the result Warn, Fail or Panic that are not waived.",
)
@click.option(
    "--sets",
    metavar="SET,…",
    type=ParsedText("numbers", _numbers),
    help="Copy only these recipe sets of the job, by number.",
)
@click.option("--edit", is_flag=True, help="Edit the copy in $VISUAL or $EDITOR before it is submitted.")
@remote
def rerun(
    client: Client, output: Output, job_id: int, failed: bool, sets: list[int] | None, edit: bool
) -> None:
    """Submit a copy of JOB, or of some of its recipe sets.

    The copy is your own job, also if JOB is not: your rights, groups and quotas count. It has the group
    of the job if you are in it. It names the job as its origin, and the job its copies (labledger job JOB).

    With --edit, an editor opens the copy. If it is refused, every fault is shown with its line, and the file
    can be edited again; an empty or unchanged file submits nothing.
    """
    require_exclusive({"--failed": failed, "--sets": sets})
    if edit and not sys.stdin.isatty() and not any(map(os.environ.get, EDITORS)):
        # The editor of the system would wait for keys for ever; one that the user chose may need none.
        raise click.UsageError(
            "There is no terminal to edit on: set VISUAL or EDITOR to an editor without a screen, or edit and"
            f" submit the output of `labledger job {job_id} --xml`."
        )
    path, chosen = f"/jobs/{job_id}/rerun", {"failed": failed or None, "sets": sets}
    if edit:
        answer = _edited(client, output, path, chosen)
    else:
        answer = client.post(path, {name: value for name, value in chosen.items() if value is not None})
    print_warnings(output, f"job {job_id}", answer["warnings"])
    output.line({"origin": job_id, **answer}, f"{submitted_text(answer)}, a copy of job {job_id}")


def _edited(client: Client, output: Output, path: str, chosen: dict[str, Any]) -> dict[str, Any]:
    """Submit the copy as the user has edited it. A refused one stays in its file."""
    from api.client import ServerProblem
    from cli.failures import print_failure

    draft = client.get(path, **{name: value for name, value in chosen.items() if value is not None})
    print_warnings(output, f"job {draft['job_id']}", draft["warnings"])
    suffix = next(suffix for suffix, kind in BY_SUFFIX.items() if kind == draft["media_type"])
    with tempfile.NamedTemporaryFile("w", suffix=suffix, encoding="utf-8", delete=False) as opened:
        opened.write(draft["job"])
    file = Path(opened.name)
    is_kept = True
    try:
        while True:
            click.edit(filename=str(file))
            text = file.read_text("utf-8")
            if not text.strip() or text == draft["job"]:
                is_kept = False
                how = "unchanged" if text.strip() else "empty"
                raise click.ClickException(f"the file is {how}, so nothing was submitted")
            try:
                answer: dict[str, Any] = client.post(path, {"job": text})
            except ServerProblem as problem:
                print_failure(problem, str(file), as_json=output.as_json)
                if sys.stdin.isatty() and click.confirm("Edit it again?", default=True, err=True):
                    continue
                raise click.exceptions.Exit(1) from None
            is_kept = False
            return answer
    finally:
        if is_kept:
            note(f"The edited job is in {file}.")
        else:
            file.unlink()
