"""`labledger systems`, `systems export` and `systems import`: a list, and files of properties."""

from __future__ import annotations

from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, note_moment
from cli.arguments.params import WordChoice
from cli.arguments.utf8 import content_of
from cli.lists import completing
from cli.lists.filtered import owner_option, partition_option
from cli.lists.listing import list_command, require_existing, with_commands
from cli.lists.systems import SYSTEMS
from cli.remote import remote, wide
from cli.terminal.output import Output, note
from cli.terminal.tables import Column, Row
from domain.system.lifecycle import CONDITIONS, USAGE

if TYPE_CHECKING:
    from api.client import Client

FORMATS = ("json", "csv")
STDIN_OR_STDOUT = "-"

format_option = click.option(
    "--format",
    "form",
    type=WordChoice(FORMATS),
    help="Format of the file.  [default: from the file suffix, otherwise json]",
)


NEW = Column("new", "added")
DIFFERENCES = (
    Column("system", "fqdn", rank=0),
    Column("property", "property", rank=0),
    Column("from", "from", "text", 2),
    Column("to", "to", "text", 0),
)


@click.command("export")
@click.argument("file", type=click.File("wb", lazy=True), default=STDIN_OR_STDOUT)
@format_option
@as_of
@remote
def export(
    client: Client,
    output: Output,
    file: IO[bytes],
    form: str | None,
    as_of: str | None,
    **filters: str | None,
) -> None:
    """Write the properties of the systems to FILE [default: standard output], in the format of `import`.

    The file is as of one moment, even if systems change meanwhile.
    """
    from api.client.inventory_file import PATH, export

    require_existing(client, as_of, {name: given for name, given in filters.items() if given is not None})
    position: int | None = None
    if as_of is not None:
        answer = client.get(PATH, limit=1, as_of=as_of)
        note_moment(client, output, as_of, answer)
        position = answer["position"]
    query: dict[str, Any] = {**filters, "as_of": position}
    for text in export(client, _format_of(form, file), one_line=output.as_json, **query):
        file.write(text.encode())
    if file.name != STDIN_OR_STDOUT:
        output.line({"file": file.name}, f"exported to {file.name}")


@click.command("import")
@click.argument("file", type=click.File("rb", lazy=False))
@format_option
@click.option("--dry-run", is_flag=True, help="Change nothing; show the changes.")
@wide
@remote
def import_(client: Client, output: Output, file: IO[bytes], form: str | None, dry_run: bool) -> None:
    """Add and change the systems in FILE; use - for standard input.

    Properties that FILE does not have stay unchanged. The value null, or in CSV an empty cell, clears a
    property. A file with errors is refused with a list of all errors, and nothing is stored. More than 200
    systems are validated together first, then stored in parts of 200; so are systems of several partitions,
    in parts of one partition. Importing an export changes nothing.
    """
    from api.client.inventory_file import import_all, partitions_of_systems, parts_of, preview_import
    from cli.terminal.progress import advancing

    parts = parts_of(content_of(file), _format_of(form, file), partitions_of_systems(client))
    result = (preview_import if dry_run else import_all)(client, parts, advancing)
    if output.as_json:
        output.document({name: value for name, value in result.items() if name != "position"})
        return
    if differences := list(_differences(result["systems"])):
        output.table((*DIFFERENCES, NEW) if result["added"] else DIFFERENCES, differences)
    click.echo(f"{result['added']} added, {result['changed']} changed, {result['kept']} unchanged")
    if dry_run:
        note("dry run: nothing was changed")


def _differences(systems: list[dict[str, Any]]) -> list[Row]:
    return [
        {"fqdn": system["fqdn"], "added": system["added"], **change}
        for system in systems
        for change in system["changes"]
    ]


def _format_of(form: str | None, file: IO[bytes]) -> str:
    """Return the given format, otherwise that of the file suffix, otherwise json."""
    # Standard input may have no name.
    name = str(getattr(file, "name", STDIN_OR_STDOUT))
    suffix = PurePath(name).suffix.removeprefix(".").lower()
    return form or (suffix if suffix in FORMATS else FORMATS[0])


SYSTEM_FILTERS = (
    click.Option(["--condition"], type=WordChoice(CONDITIONS), help="Only systems in this condition."),
    click.Option(
        ["--usage"],
        type=WordChoice(USAGE.states),
        metavar="USAGE",
        help="Only systems with this usage, such as idle or running.",
    ),
    click.Option(
        ["--lab-controller", "--lab"],
        metavar="FQDN",
        shell_complete=completing.lab_controllers,
        help="Only systems of this lab.",
    ),
    click.Option(
        ["--pool"], metavar="POOL", shell_complete=completing.pools, help="Only systems in this pool."
    ),
    click.Option(["--location"], metavar="TEXT", help="Only systems at this location."),
    click.Option(["--draining"], flag_value="true", default=None, help="Only systems that are draining."),
    owner_option("systems that this user owns"),
    partition_option("systems in"),
)
export.params = [*SYSTEM_FILTERS, *export.params]
systems = with_commands(
    list_command("systems", SYSTEMS, "List the systems, their condition and usage.", filters=SYSTEM_FILTERS),
    *(export, import_),
)
