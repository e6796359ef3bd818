"""`labledger weigh`: the weight of a recipe set, from locks and age alone."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from cli.arguments.locks import LOCK, METAVAR, lock_option, locks_document, locks_text
from cli.arguments.params import Decimal, WholeNumber, read_json
from cli.remote import remote
from cli.terminal.output import Output
from cli.terminal.tables import Column, Row
from domain.contention.locks import ALIASES, WHOLE_LAB, Locks
from domain.directory.partitions import DEFAULT
from domain.errors import Fault, Unreadable

if TYPE_CHECKING:
    from api.client import Client

CELLS = (
    Column("level", "level", rank=0),
    Column("declared", "lock", "text", 1),
    Column("worst cell", lambda row: f"{row['cell']:g}", "number", 0),
    Column("name", "name", rank=2),
)


@click.command
@click.argument("file", metavar="[FILE]", required=False, type=click.File("rb", lazy=False))
@lock_option
@click.option(
    "--running",
    "running",
    type=LOCK,
    metavar=METAVAR,
    multiple=True,
    help="Lock of a placed recipe, in the form of --lock; each is that of another recipe. Repeatable.",
)
@click.option("--base", "base_value", type=Decimal(), help="Base value [default: that of the configuration].")
@click.option("--age", "age_ticks", type=WholeNumber(0), help="Age in ticks [default: 0].")
@click.option(
    "--coefficient",
    type=WholeNumber(),
    help="Age in ticks (K) at which the weight is 0 [default: that of the configuration].",
)
@remote
def weigh(
    client: Client,
    output: Output,
    file: IO[bytes] | None,
    locks: tuple[Locks, ...],
    running: tuple[Locks, ...],
    **numbers: float | None,
) -> None:
    """Compute the weight of a recipe set beside placed recipes, both given by their locks.

    FILE has the body of POST /weights as JSON: {"locks": {"system": {"Exclusive": ["a"]}}, "running":
    [{"system": "AllShared"}]}. Use - for standard input. Options replace its fields. Nothing is read from the
    lab but the configuration.

    The worst cell of a level says how strongly the locks at that level conflict with those of placed recipes:
    the greatest of the weights.values of the configuration that applies, and its name. The weight before
    ageing is the sum of the base value and of the worst cells.
    """
    question = {} if file is None else read_json(file)
    given: dict[str, Any] = {name: value for name, value in numbers.items() if value is not None}
    if locks:
        given["locks"] = locks_document(locks)
    if running:
        given["running"] = [locks_document([lock]) for lock in running]
    if file is not None and not isinstance(question, dict):
        raise Unreadable([Fault(file.name, "must be an object")])
    question = {**question, **given}
    answer = client.post("/weights", question)
    if output.as_json:
        output.document(answer)
        return
    click.echo(f"weight {answer['weight']:g}, before ageing {answer['static_weight']:g}")
    click.echo()
    values = client.get(client.path("partitions", DEFAULT, "configuration"))["weights"]["values"]
    output.table(CELLS, _levels(question, answer["cells"], values))


def _levels(question: Row, cells: Row, values: Row) -> list[Row]:
    """Return the row of each level. The lock on the whole lab stands at every level."""
    # Several names may have one value.
    names = {cell: " or ".join(name for name in values if values[name] == cell) for cell in cells.values()}
    locks = {ALIASES.get(level, level): lock for level, lock in question.get("locks", {}).items()}
    declared = {name: lock for name, lock in locks.items() if lock}
    every_level = {WHOLE_LAB: True} if declared.get(WHOLE_LAB) or question.get(WHOLE_LAB) else {}
    texts = {
        level: locks_text({**({level: declared[level]} if level in declared else {}), **every_level})
        for level in cells
    }
    return [
        {"level": level, "lock": texts[level], "cell": cell, "name": names[cell]}
        for level, cell in cells.items()
    ]
