"""Options of the behaviour of simulated machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

# Name of a field of Behaviour without `_percent`, and the description of the option.
PERCENTAGES = (
    ("trouble", "results that are Warn, Fail or Panic"),
    ("stall", "recipes whose machine stops reporting until a watchdog ends them"),
    ("fail", "recipes whose provisioning fails, or whose machine aborts them"),
    ("break", "recipes whose system breaks, and is repaired later"),
    ("vanish", "provisionings during which the lab controller is silent for some time"),
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
