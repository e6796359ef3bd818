"""`labledger partition`, `partitions` and `operations`: states, configuration and operation table."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, note_moment
from cli.arguments.locks import locks_text
from cli.arguments.params import Decorator, no_option, reason_option
from cli.arguments.yaml_file import read_document, with_quotes_advised
from cli.directory.configuration_diff import COLUMNS as DIFFERENCES
from cli.directory.configuration_diff import differences, queue_differences, settings
from cli.directory.effects import print_effects
from cli.directory.named import ANSWER_FIELDS
from cli.lazy import SuggestingGroup
from cli.remote import remote, wide
from cli.terminal.output import Output, note
from cli.terminal.tables import Column, Row
from cli.terminal.wording import clock, counted, zone
from domain.directory.partition_states import START
from domain.directory.partitions import DEFAULT
from domain.errors import listed

if TYPE_CHECKING:
    from api.client import Client

# Settings of changed queues that `partition apply` shows; of more, it shows the paths of the queues.
MAX_QUEUE_ROWS = 50
SETTINGS = (Column("setting", "setting", rank=0), Column("value", "value", rank=0))


def _source(row: Row) -> str:
    return f"{row['source']}, replaces the shipped row" if row["replaces_shipped"] else str(row["source"])


COLUMNS = (
    Column("operation", "operation", rank=0),
    Column("tasks", "tasks", "text", 1),
    Column("locks", lambda row: locks_text(row["locks"]) or "none", "text", 0),
    Column("from", _source, "text", 2),
)


PARTITIONS = (
    Column("partition", "name", rank=0),
    Column("state", "state", "state", 0),
    Column("lab controllers", "lab_controllers", "text", 2),
)

VERSIONS = (
    Column("version", "version", "number", 0),
    Column(f"time ({zone()})", lambda row: clock(row["recorded_at"]), rank=0),
    Column("author", "actor", rank=0),
)
OF_VERSION = ("version", "recorded_at", "actor")

MOVES = {
    "start": ("started", "it takes jobs and grants systems"),
    "drain": ("drains", "it takes no new jobs, and finishes those that it has"),
    "stop": ("stopped", "it takes no new jobs and grants nothing; what has started goes on"),
}
"""Move of a partition -> the word for it, and what the partition does then."""


of_partition = click.option(
    "--partition", "name", default=DEFAULT, metavar="NAME", help=f"The partition [default: {DEFAULT}]."
)


@click.group(cls=SuggestingGroup)
def partition() -> None:
    """Create, show, configure, start, drain, stop and remove a partition."""


@click.command
@as_of
@wide
@remote
def partitions(client: Client, output: Output, as_of: str | None) -> None:
    """List the partitions and their states: active, draining or stopped."""
    document = client.get("/partitions", as_of=as_of)
    note_moment(client, output, as_of, document)
    output.rows(document, "partitions", PARTITIONS, empty="There is no partition.")


@partition.command("show")
@click.argument("name", default=DEFAULT)
@as_of
@wide
@remote
def show_partition(client: Client, output: Output, name: str, as_of: str | None) -> None:
    """Show the state of the partition NAME (default)."""
    document = client.get(client.path("partitions", name), as_of=as_of)
    note_moment(client, output, as_of, document)
    if output.as_json:
        output.document(document)
    else:
        output.table(PARTITIONS, [document])


@partition.command("put")
@click.argument("name")
@remote
def put_partition(client: Client, output: Output, name: str) -> None:
    """Create the partition NAME, which has no lab until its configuration names one.

    Labs are named by `lab_controllers` of the configuration (labledger partition apply).
    """
    answer = client.put(client.path("partitions", name), {})
    output.line(answer, f"partition {name} {'created' if answer['added'] else 'unchanged'}")
    if answer["added"] and not output.as_json:
        note(f"next, name its labs: labledger partition apply FILE --partition {name}")


@partition.command("remove")
@click.argument("name")
@click.option(
    "--force", is_flag=True, help="Abort what is unfinished there, and end reservations of its systems."
)
@reason_option
@remote
def remove_partition(client: Client, output: Output, name: str, force: bool, reason: str | None) -> None:
    """Remove the partition NAME, which must be draining or stopped, and empty unless --force is given.

    Its labs are in no partition then, until the configuration of another one names them.
    """
    answer = client.delete(client.path("partitions", name), force=force or None, reason=reason)
    aborted, labs = answer.get("aborted_recipe_sets", 0), answer.get("lab_controllers", [])
    and_aborted = f", {counted(aborted, 'recipe set')} aborted" if aborted else ""
    output.line(answer, f"partition {name} removed{and_aborted}")
    if labs and not output.as_json:
        click.echo(f"in no partition now: {listed(labs)}")
        note("next, name them in another configuration: labledger partition apply FILE --partition NAME")


def _move_command(move: str) -> click.Command:
    """Return the command that makes a move of a partition."""
    moved, does = MOVES[move]
    reasoned: Decorator = no_option if move == START else reason_option

    @click.command(
        move,
        help=f"{move.capitalize()} the partition NAME ({DEFAULT}): {does}.",
        short_help=f"{move.capitalize()} a partition.",
    )
    @click.argument("name", default=DEFAULT)
    @reasoned
    @remote
    def command(client: Client, output: Output, name: str, reason: str | None = None) -> None:
        answer = client.post(client.path("partitions", name, move), {}, reason=reason)
        now = f"{moved}: {does}" if answer["changed"] else f"was {answer['state']} already"
        output.line(answer, f"partition {name} {now}")

    return command


@click.command
@of_partition
@as_of
@wide
@remote
def configuration(client: Client, output: Output, name: str, as_of: str | None) -> None:
    """Show the configuration of a partition.

    Its sections are order, weights, locks, limits, operations, lab_controllers, queues and placement. With
    --json, print the document that `partition apply` takes.
    """
    document = client.get(client.path("partitions", name, "configuration"), as_of=as_of)
    note_moment(client, output, as_of, document)
    if output.as_json:
        output.document(document)
        return
    operations, _ = document.pop("operations"), document.pop("queues")
    sections = {name: value for name, value in document.items() if name not in ANSWER_FIELDS}
    output.table(SETTINGS, [{"setting": name, "value": value} for name, value in settings(sections)])
    where = "" if name == DEFAULT else f" --partition {name}"
    own = counted(len(operations), "own row")
    note(f"{own} of the operation table (all rows: labledger operations{where})")
    note(f"queues: labledger queues{where}")


@partition.command("apply")
@click.argument("file", type=click.File("rb", lazy=False))
@of_partition
@click.option(
    "--dry-run",
    is_flag=True,
    help="Change nothing: check FILE, and show the queues and recipe sets that it would change.",
)
@remote
def apply(client: Client, output: Output, file: IO[bytes], name: str, dry_run: bool) -> None:
    """Replace the configuration of a partition with that in FILE, YAML or JSON; - is standard input.

    FILE has the format of `partition configuration --json`. Settings that it leaves out get their defaults;
    {} resets all of them. The output has each setting that changes, also of queues.
    Labs that it names move to the partition with their systems, which nobody may use meanwhile. Queues that
    it no longer names take no new jobs.
    """
    from api.client.problems import ServerProblem

    body = {field: value for field, value in read_document(file).items() if field not in ANSWER_FIELDS}
    path = client.path("partitions", name, "configuration")
    try:
        answer = client.put(path, body, dry_run=dry_run or None)
    except ServerProblem as problem:
        problem.faults = with_quotes_advised(problem.faults, body)
        raise
    outcome = "changed" if answer["changed"] else "unchanged"
    output.line(answer, f"configuration of partition {name} {'would be ' if dry_run else ''}{outcome}")
    if output.as_json:
        return
    _print_changes(output, answer)
    if dry_run:
        print_effects(output, answer["effects"])


def _print_changes(output: Output, answer: Row) -> None:
    """Print the settings that a configuration changes; of added, drained and many queues only paths."""
    before = dict(answer["replaced"])
    queues = before.pop("queues", None)
    rows = differences(before, {section: answer[section] for section in before})
    changed = answer["queue_changes"]["changed"]
    of_queues = queue_differences(queues, answer["queues"], changed) if queues is not None else []
    if len(of_queues) <= MAX_QUEUE_ROWS:
        rows += of_queues
    if rows:
        output.table(DIFFERENCES, rows)
    for change, paths in answer["queue_changes"].items():
        if paths:
            click.echo(f"{counted(len(paths), 'queue')} {change}: {listed(paths)}")


@partition.command("configurations")
@of_partition
@as_of
@wide
@remote
def configurations(client: Client, output: Output, name: str, as_of: str | None) -> None:
    """List the versions of the configuration of a partition, with their times and authors.

    They are numbers of changes of the partition. Its creation has number 1, unless an earlier partition had
    the name. Each start, drain, stop and change of a job filter has a number, too. The list has none of
    these.
    """
    document = client.get(client.path("partitions", name, "configurations"), as_of=as_of)
    note_moment(client, output, as_of, document)
    output.rows(document, "configurations", VERSIONS, empty="The partition has the default configuration.")


@partition.command("diff")
@click.argument("before", type=click.IntRange(1))
@click.argument("after", type=click.IntRange(1), required=False)
@of_partition
@wide
@remote
def diff(client: Client, output: Output, before: int, after: int | None, name: str) -> None:
    """Show what differs between version BEFORE of the configuration and version AFTER, or the present one.

    `labledger partition configurations` lists the versions.
    """
    old, new = (_version(client, name, version) for version in (before, after))
    rows = differences(old, new)
    output.rows({"differences": rows}, "differences", DIFFERENCES, empty="The configurations are equal.")


def _version(client: Client, name: str, version: int | None) -> dict[str, Any]:
    parts = ("configuration",) if version is None else ("configurations", str(version))
    document: dict[str, Any] = client.get(client.path("partitions", name, *parts))
    return {field: value for field, value in document.items() if field not in (*ANSWER_FIELDS, *OF_VERSION)}


partition.add_command(configuration)
for each in MOVES:
    partition.add_command(_move_command(each))


@click.command
@of_partition
@as_of
@wide
@remote
def operations(client: Client, output: Output, name: str, as_of: str | None) -> None:
    """List the operation table in force: the locks that tasks declare, by their names or by the parameter
    LABLEDGER_OPERATION.

    $system, $lab, $pools and $guests are those of the recipe, {PARAMETER} is a parameter of the task. Rows of
    the configuration (labledger partition configuration) are added, or replace shipped rows.
    """
    document = client.get(client.path("partitions", name, "operations"), as_of=as_of)
    note_moment(client, output, as_of, document)
    output.rows(document, "operations", COLUMNS, empty="The operation table has no rows.")
