"""`labledger lab`: commands that generate, load and simulate a lab, and options of simulated machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Any

import click

from cli.arguments.params import read_json
from cli.lab.generate import generate, submit_many
from cli.lazy import SuggestingGroup
from cli.remote import remote
from cli.terminal.output import Output
from cli.terminal.tables import Column

if TYPE_CHECKING:
    from api.client import Client

# Name of a field of Behaviour without `_percent`, and the description of the option.
PERCENTAGES = (
    ("trouble", "results that are Warn, Fail or Panic"),
    ("stall", "recipes whose machine stops reporting until a watchdog ends them"),
    ("fail", "recipes whose provisioning fails, or whose machine aborts them"),
    ("break", "recipes whose system breaks, and is repaired later"),
    ("vanish", "provisionings during which the lab controller is silent for some time"),
    ("lose", "begun provisionings that a machine has lost when its lab controller starts again"),
    ("intrude", "machines that then run something unknown for a while"),
    ("repeat", "messages, and batches of them, that are sent twice"),
    ("reorder", "messages that arrive after the next message"),
)

OPTIONS = (
    click.option(
        "--speed",
        type=click.FloatRange(0, min_open=True),
        default=60.0,
        show_default=True,
        help="Speed of the simulated machines: 1 is that of real ones, 60 makes a minute a second.",
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Seed of durations, results and faults."
    ),
    *(
        click.option(
            f"--{name}",
            f"{name}_percent",
            type=click.FloatRange(0, 100),
            default=0.0,
            metavar="PERCENT",
            help=f"Percent of {what}.",
        )
        for name, what in PERCENTAGES
    ),
    click.option(
        "--watchdog",
        "watchdog_seconds",
        type=click.IntRange(1),
        metavar="SECONDS",
        help="Watchdog of each recipe, set when the installation and each task start [default: unchanged].",
    ),
)


def behaviour_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add all options to a command. They have the names of the fields of Behaviour."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


LOADED_COLUMNS = (
    Column("section", lambda row: str(row["section"]).replace("_", " ")),
    Column("added", "added", "number"),
    Column("changed", "changed", "number"),
    Column("kept", "kept", "number"),
)


@click.group(cls=SuggestingGroup)
def lab() -> None:
    """Generate a lab and jobs for it, load it, and simulate its machines."""


@lab.command
@click.argument("file", type=click.File("rb", lazy=False))
@remote
def load(client: Client, output: Output, file: IO[bytes]) -> None:
    """Load a lab FILE: users, groups, lab controllers, pools and their policies, distro trees, systems.

    An existing object that differs from FILE is replaced and counted as changed. An existing system is never
    changed, even if it differs. The errors of all new systems are reported together. Loading a file again
    changes nothing.
    """
    from api.client.lab_file import load as load_lab
    from cli.terminal.progress import advancing
    from domain.errors import Fault, Unreadable

    document = read_json(file)
    if not isinstance(document, dict):
        raise Unreadable([Fault(file.name, "must be an object")])
    sections = [asdict(section) for section in load_lab(client, document, advancing)]
    output.rows({"sections": sections}, "sections", LOADED_COLUMNS, empty="")


@lab.command
@click.option(
    *("--lab-controller", "--lab", "fqdns"),
    metavar="FQDN",
    multiple=True,
    help="Only this lab controller; repeatable.",
)
@click.option("--all", "all_of_them", is_flag=True, help="All enabled lab controllers (default).")
@behaviour_options
@click.option(
    "--logs-port",
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Serve logs of results on this port of 127.0.0.1; 0: a free one [default: no logs].",
)
@click.option("--once", is_flag=True, help="Exit when no command or report is left.")
@remote
def simulate(
    client: Client,
    output: Output,
    fqdns: tuple[str, ...],
    all_of_them: bool,
    logs_port: int | None,
    once: bool,
    **behaviour: Any,
) -> None:
    """Act as lab controllers: take their commands, and report progress as if machines ran the recipes.

    Without --lab-controller, act as all enabled lab controllers, including those that are added later. Each
    registers its lab at the start: recipes that another simulation of the lab runs are aborted.

    A task with the parameter SIMULATED_RESULT (Pass, Warn, Fail or Panic) ends with this result.
    """
    from cli.lab.log_server import log_server
    from cli.lab.screen import SimulationScreen
    from cli.lab.simulation import Simulation
    from replay.simulated_lab.behaviour import Behaviour

    if fqdns and all_of_them:
        raise click.UsageError("Use either --all or --lab-controller, not both.")
    with log_server(logs_port) as logs_url, SimulationScreen(output) as screen:
        Simulation(client, screen.show, Behaviour(**behaviour, logs_url=logs_url), fqdns, once=once).run()


lab.add_command(generate)
lab.add_command(submit_many)
