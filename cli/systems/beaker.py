"""`labledger import beaker` and `labledger export beaker`: CSV files of Beaker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any

import click

from api.intake.beaker_columns import EXPORTED, POWER, USER_GROUP
from cli.arguments.as_of import as_of, note_moment
from cli.arguments.params import WordChoice
from cli.lazy import SuggestingGroup
from cli.lists.listing import require_existing
from cli.remote import remote, wide
from cli.systems.inventory import STDIN_OR_STDOUT, SYSTEM_FILTERS
from cli.terminal.output import Output, note
from cli.terminal.tables import Column, Row
from cli.terminal.wording import counted
from domain.system.differences import OUTCOMES

if TYPE_CHECKING:
    from api.client import Client

COLUMNS = (
    Column("name", "name", rank=0),
    Column("outcome", "outcome", rank=1),
    Column("property", "property", rank=0),
    Column("from", "from", "text", 2),
    Column("to", "to", "text", 0),
)


@click.group("import", cls=SuggestingGroup)
def import_group() -> None:
    """Import files of other programs."""


@click.group("export", cls=SuggestingGroup)
def export_group() -> None:
    """Export files for other programs."""


@import_group.command("beaker")
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.File("rb", lazy=False))
@click.option("--dry-run", is_flag=True, help="Change nothing; show the changes.")
@wide
@remote
def import_beaker(client: Client, output: Output, files: tuple[IO[bytes], ...], dry_run: bool) -> None:
    """Import CSV files that Beaker has exported; use - for standard input.

    The files may be of any kinds: system, labinfo, keyvalue, exclude, system_pool, power and user_group.
    Give all files of a lab together, since they refer to each other. New systems and groups are added, the
    others are changed. Files with errors are refused with a list of all errors, and nothing is stored.
    Importing the same files again changes nothing.
    """
    from api.client.beaker_files import import_files

    contents = [(_name(file), file.read()) for file in files]
    answer = import_files(client, contents, dry_run=dry_run)
    if output.as_json:
        output.document(answer)
    else:
        _show(output, answer)
    if any("outcome" not in system for system in answer["systems"]):
        raise click.exceptions.Exit(1)


def _show(output: Output, answer: dict[str, Any]) -> None:
    rows = [*_rows(answer["systems"], "fqdn"), *_rows(answer["groups"], "group")]
    if not answer["dry_run"]:
        # A lab has thousands of properties; --dry-run shows them, as does `systems import`.
        rows = [row for row in rows if "property" not in row]
    if rows:
        output.table(COLUMNS, rows)
    click.echo(_summary("system", answer["systems"]))
    if answer["groups"]:
        click.echo(_summary("group", answer["groups"]))
    for warning in answer["warnings"]:
        note(f"warning: {warning['where']}: {warning['message']}")
    for kind in answer["not_imported"]:
        note(f"not imported: {counted(kind['rows'], 'row')} of kind {kind['kind']}: {kind['reason']}")
    if answer["dry_run"]:
        note("dry run: nothing was changed")


def _name(file: IO[bytes]) -> str:
    # Standard input may have no name.
    return PurePath(str(getattr(file, "name", STDIN_OR_STDOUT))).name


def _rows(items: list[dict[str, Any]], name: str) -> Iterator[Row]:
    for item in items:
        if "outcome" not in item:
            yield {"name": item[name], "outcome": f"not imported: {item['detail']}"}
        for change in item.get("changes", ()):
            yield {"name": item[name], "outcome": item["outcome"], **change}


def _summary(noun: str, items: list[dict[str, Any]]) -> str:
    counts = [f"{sum(item.get('outcome') == outcome for item in items)} {outcome}" for outcome in OUTCOMES]
    failed_count = sum("outcome" not in item for item in items)
    failures = f", {failed_count} not imported" if failed_count else ""
    return f"{noun}s: {', '.join(counts)}{failures}"


@export_group.command("beaker")
@click.argument("kind", type=WordChoice(EXPORTED))
@click.argument("file", type=click.File("wb", lazy=True), default=STDIN_OR_STDOUT)
@as_of
@remote
def export_beaker(
    client: Client,
    output: Output,
    kind: str,
    file: IO[bytes],
    as_of: str | None,
    **filters: str | None,
) -> None:
    """Write the CSV file of KIND to FILE [default: standard output], in the format of Beaker.

    The file is as of one moment. The options select systems; the members of groups (user_group) are those of
    all groups. Power settings (power) are the present ones, without their secrets. Access policies, CPUs,
    disks and devices have no place in these files.
    """
    from api.client.beaker_files import export

    given = {name: value for name, value in filters.items() if value is not None}
    if given and kind == USER_GROUP:
        raise click.UsageError(f"The options that select systems do not apply to {USER_GROUP}.")
    if as_of is not None and kind == POWER:
        raise click.UsageError("--as-of does not apply to power: only the present power settings exist.")
    require_existing(client, as_of, given)
    position: int | None = None
    if as_of is not None:
        answer = client.get("/groups" if kind == USER_GROUP else "/inventory", limit=1, as_of=as_of)
        note_moment(client, output, as_of, answer)
        position = answer["position"]
    query: dict[str, Any] = {**filters, "as_of": position}
    parts = export(client, kind, **query)
    if output.as_json and file.name == STDIN_OR_STDOUT:
        output.document({"kind": kind, "text": "".join(parts)})
        return
    for text in parts:
        file.write(text.encode())
    if file.name != STDIN_OR_STDOUT:
        output.line({"file": file.name}, f"exported to {file.name}")


export_beaker.params = [*SYSTEM_FILTERS, *export_beaker.params]
