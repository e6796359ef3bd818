"""Generator of the page of settings: `python -m tests.docs.settings` writes the page."""

from __future__ import annotations

from dataclasses import Field, fields
from pathlib import Path
from typing import Any

import click

from cli import main
from runtime.setting_values import setting_text
from runtime.settings import COMMANDS, Settings, flag, variable

PAGE = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"
REGENERATE = "python -m tests.docs.settings"

# An example of the commands that use the API; all take the same settings.
ANY_COMMAND = "queue"

HEAD = f"""# Configuration

Generated from `runtime/settings.py` by `{REGENERATE}`; change that file, not this page.

A setting is taken from its flag, else from its environment variable, else it has its default. An empty
variable counts as not set. If settings are invalid, the process reports all errors at once and ends with exit
status 2. Services have no flags for secrets, because other users can see flags: the units of
[deploy/systemd](../deploy/systemd) read variables from a file.

`up` passes its settings to the processes that it runs. In the last column, `commands` are those that use the
API: `labledger submit`, `labledger queue` and so on.

| variable | flag | meaning | default | read by |
|---|---|---|---|---|
"""


def page() -> str:
    return HEAD + "".join(f"{_row(setting)}\n" for setting in fields(Settings))


def _row(setting: Field[Any]) -> str:
    about = setting.metadata
    cells = (
        f"`{variable(setting.name)}`",
        _flags(setting),
        about["about"],
        about["unset"] or f"`{_shown(getattr(Settings.read({}), setting.name))}`",
        ", ".join(f"`{reader}`" for reader in about["readers"]),
    )
    return f"| {' | '.join(cells)} |"


def _shown(default: object) -> str:
    return f"{default:g}" if isinstance(default, float) else setting_text(default)


def _flags(setting: Field[Any]) -> str:
    """Return the flag; if only some of the readers have it, also name those."""
    readers = setting.metadata["readers"]
    taken_by = [reader for reader in readers if flag(setting.name) in options(reader)]
    if not taken_by:
        return ""
    for_whom = "" if len(taken_by) == len(readers) else f" ({', '.join(taken_by)})"
    return f"`{flag(setting.name)}`{for_whom}"


def options(reader: str) -> set[str]:
    """Return the flags of a process or a command; `commands` has those of any command."""
    command: click.Command | None = main
    for name in (ANY_COMMAND if reader == COMMANDS else reader).split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), name)
    assert command is not None
    return {option for param in command.params for option in param.opts}


if __name__ == "__main__":
    PAGE.write_text(page())
