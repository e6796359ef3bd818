"""One colour for each state, wherever it is shown: of recipes, tasks and commands, systems, results."""

from __future__ import annotations

import click

# Green is well, cyan goes on, yellow is held up, red went wrong, magenta is in a person's hands; what is
# over, or asks nothing of anybody, is dim.
STYLES: dict[str, str] = {
    # recipes, and all that is rolled up from them; usage of systems
    "new": "yellow",
    "queued": "yellow",
    "assigned": "yellow",
    "pending": "yellow",
    "scheduled": "cyan",
    "waiting": "cyan",
    "installing": "cyan",
    "running": "bold cyan",
    "reserved": "magenta",
    "completed": "green",
    "cancelled": "dim",
    "aborted": "red",
    "idle": "green",
    # commands
    "failed": "red",
    # conditions
    "Automated": "",
    "Manual": "magenta",
    "Broken": "red",
    "Removed": "dim",
    "draining": "yellow",
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
    """Of several, as `Broken, draining`, the first one's."""
    return STYLES.get(state.split(",", 1)[0].split(" ", 1)[0], "")


def styled(text: str, state: str) -> str:
    """The same without rich, for lines that need no table."""
    words = STYLES.get(state, "").split()
    colour = next((word for word in words if word not in ("bold", "dim")), None)
    return click.style(text, fg=colour, bold="bold" in words or None, dim="dim" in words or None)
