"""How simulated machines are to behave, as options of the command line: one row for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

# Field of Behaviour without `_percent`, and what it is a percentage of.
PERCENTAGES = (
    ("trouble", "results that are Warn, Fail or Panic"),
    ("stall", "recipes whose machine falls silent, until a watchdog ends them"),
    ("fail", "recipes whose provisioning fails, or whose machine gives them up"),
    ("break", "recipes whose system breaks; it is repaired after a while"),
    ("vanish", "provisionings in which the lab controller is not heard of for a while"),
    ("repeat", "messages that are sent twice, and whole batches"),
    ("reorder", "messages that arrive after the one that follows them"),
)

OPTIONS = (
    click.option(
        "--speed",
        type=click.FloatRange(0, min_open=True),
        default=60.0,
        show_default=True,
        help="How much faster than real machines.",
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="What durations, results and faults come from."
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
        help="Each recipe sets its watchdog to so many seconds when it installs and when a task starts.",
    ),
)


def behaviour_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all of them; it is called with the fields of Behaviour."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command
