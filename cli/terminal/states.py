"""The colour of each state, condition, result and priority."""

from __future__ import annotations

import click

# Green: good. Cyan: started. Yellow: not started, warning. Red: failed. Magenta: for a person. Dim: ended.
STYLES: dict[str, str] = {
    # recipes, recipe sets and jobs; usage of systems
    "new": "yellow",
    "queued": "yellow",
    "assigned": "yellow",
    "pending": "yellow",
    "scheduled": "cyan",
    "waiting": "cyan",
    "installing": "cyan",
    "running": "bold cyan",
    "locked": "cyan",
    "reserved": "magenta",
    "completed": "green",
    "cancelled": "dim",
    "aborted": "red",
    "idle": "green",
    "occupied": "red",
    # resource locks
    "held": "cyan",
    "awaited": "yellow",
    # commands
    "failed": "red",
    # conditions
    "Automated": "",
    "Manual": "magenta",
    "Broken": "red",
    "Removed": "dim",
    "draining": "yellow",
    # partitions
    "active": "green",
    "stopped": "red",
    # lab controllers
    "silent": "red",
    "never": "red",
    "disabled": "yellow",
    # results
    "New": "",
    "None": "",
    "Skip": "dim",
    "Pass": "green",
    "Warn": "yellow",
    "Fail": "red",
    "Panic": "bold red",
    # priorities
    "Low": "dim",
    "Medium": "",
    "Normal": "",
    "High": "bold",
    "Urgent": "bold red",
}


def style_of(state: str) -> str:
    """Return the style of a state, or of the first of several states as in `Broken, draining`."""
    return STYLES.get(state.split(",", 1)[0].split(" ", 1)[0], "")


def styled(text: str, state: str) -> str:
    """Return text in the colour of a state, without rich."""
    words = STYLES.get(state, "").split()
    colour = next((word for word in words if word not in ("bold", "dim")), None)
    return click.style(text, fg=colour, bold="bold" in words or None, dim="dim" in words or None)
