"""`labledger logs`: the log files of a recipe, listed or fetched."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, read_as_of
from cli.arguments.exclusion import require_exclusive
from cli.arguments.numbered import RECIPE_ID, TASK_ID
from cli.failures import REFUSED, print_failure
from cli.jobs.log_files import LogFile, fetch, files_of
from cli.jobs.result_rows import deletion_text
from cli.lists import completing
from cli.remote import remote, wide
from cli.terminal.output import Output, content, note
from cli.terminal.progress import advancing
from cli.terminal.tables import Column
from cli.terminal.wording import counted, plain

if TYPE_CHECKING:
    from api.client import Client

STDOUT = Path("-")
LOG_COLUMNS = (
    Column("task", "task_id", "number", 0),
    Column("result", "result", "state", 1),
    Column("path", "path", "text", 2),
    Column("name", "name", "text", 0),
    Column("bytes", "size_bytes", "number", 1),
    # An address that is cut into lines is no use.
    Column("address", "url", rank=3),
    Column("SHA-256", "sha256", "name", 4),
)


@click.command
@click.argument("recipe_id", metavar="RECIPE", type=RECIPE_ID, shell_complete=completing.unplaced_recipes)
@click.argument("task_id", metavar="[TASK]", type=TASK_ID, required=False)
@click.option(
    "--failed", is_flag=True, help="Only logs of results of Warn, Fail and Panic that are not waived."
)
@click.option(
    "--fetch",
    "folder",
    metavar="FOLDER",
    type=click.Path(file_okay=False, allow_dash=True, path_type=Path),
    help="Fetch the files into this folder, or print them with -; those that are there already are not"
    " fetched again.",
)
@as_of
@wide
@remote
def logs(
    client: Client,
    output: Output,
    recipe_id: int,
    task_id: int | None,
    failed: bool,
    folder: Path | None,
    as_of: str | None,
) -> None:
    """List the log files of a recipe, or of one of its tasks. With --fetch, fetch them.

    The lab keeps the files, so they come from its addresses, and no token is sent there. A fetched file is
    checked against the size and the SHA-256 that were reported. Exit status 1 if a file could not be fetched.
    """
    query = {"failed": "true"} if failed else {}
    path = f"/recipes/{recipe_id}/results"
    found = read_as_of(client, output, path, "recipe", recipe_id, as_of, **query)
    files = files_of(found["tasks"], task_id)
    if folder is not None:
        if folder == STDOUT:
            _print(output, files)
        else:
            _fetch(output, files, folder)
        if not output.as_json and (deleted := deletion_text(found)):
            note(f"logs were {deleted}")
        return
    document = {**found, "logs": [file.document() for file in files]}
    del document["tasks"]
    output.rows(document, "logs", LOG_COLUMNS, empty=deletion_text(found) or "no logs")


def _print(output: Output, files: list[LogFile]) -> None:
    """Print the content of files, each below its name if there are several."""
    require_exclusive({"--json": output.as_json, "--fetch -": True})
    has_failed = False
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            try:
                read = fetch(file, Path(folder)).read_bytes()
            except Exception as error:
                print_failure(error, file.url, as_json=False)
                has_failed = True
                continue
            if len(files) > 1:
                click.echo(f"==> {plain(file.place)} <==")
            content(read)
    if has_failed:
        raise click.exceptions.Exit(REFUSED)


def _fetch(output: Output, files: list[LogFile], folder: Path) -> None:
    fetched: list[dict[str, Any]] = []
    has_failed = False
    for file in advancing("fetching", files):
        try:
            place = fetch(file, folder)
        except Exception as error:
            print_failure(error, file.url, as_json=output.as_json)
            has_failed = True
        else:
            fetched.append({**file.document(), "file": str(place)})
    if output.as_json:
        output.document({"logs": fetched})
    else:
        note(f"{counted(len(fetched), 'file')} in {folder}")
    if has_failed:
        raise click.exceptions.Exit(REFUSED)
