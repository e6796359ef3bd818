"""`labledger lab`: a lab from a file, and one that is simulated."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING

import click

from api.cli.output import Column, Output
from api.cli.remote import remote

if TYPE_CHECKING:
    from api.client import Client

LOADED_COLUMNS = (
    Column("section", lambda row: str(row["section"]).replace("_", " ")),
    Column("loaded", "loaded", right=True),
    Column("kept", "kept", right=True),
)


@click.group
def lab() -> None:
    """Load a lab, simulate its machines."""


@lab.command
@click.argument("file", type=click.File("rb", lazy=False))
@remote
def load(client: Client, output: Output, file: IO[bytes]) -> None:
    """Load a lab FILE: users, groups, lab controllers, pools, distro trees, systems.

    Loading it again is harmless: what is as the file says does not change, and systems that are there are
    kept as they are.
    """
    from api.cli.lab_file import left_out
    from api.cli.lab_file import load as load_lab
    from domain.errors import Fault, Unreadable

    try:
        document = json.load(file)
    except ValueError as error:
        raise Unreadable([Fault(file.name, f"is not JSON: {error}")]) from None
    if not isinstance(document, dict):
        raise Unreadable([Fault(file.name, "must be an object")])
    sections = [section.document() for section in load_lab(client, document)]
    output.rows({"sections": sections}, "sections", LOADED_COLUMNS, empty="")
    for what in left_out(document):
        click.echo(f"not loaded: {what}", err=True)


@lab.command
@click.option("--lab-controller", "fqdns", metavar="FQDN", multiple=True, help="Only this one; repeatable.")
@click.option(
    "--speed",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="How much faster than real machines.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="What durations and results come from.")
@click.option(
    "--trouble",
    type=click.FloatRange(0, 100),
    default=0.0,
    show_default=True,
    help="Percent of results that are Warn, Fail or Panic.",
)
@click.option("--once", is_flag=True, help="End when there is nothing left to do.")
@remote
def simulate(
    client: Client,
    output: Output,
    fqdns: tuple[str, ...],
    speed: float,
    seed: int,
    trouble: float,
    once: bool,
) -> None:
    """Be the lab controllers: take their commands, and report as if machines ran the recipes.

    Without --lab-controller: all that are enabled, those too that are added later.
    """
    from api.cli.simulation import Simulation
    from replay.simulated_machine import Behaviour

    behaviour = Behaviour(seed=seed, speed=speed, trouble_percent=trouble)
    Simulation(client, output, behaviour, fqdns, once=once).run()
